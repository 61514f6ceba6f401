import { renaming } from '../../workloads/rename.ts'
import { changeResponse } from '../model.ts'
import { actingInstance } from '../state.ts'

export const renameInstance = renaming(actingInstance, {
  path: '',
  summary: 'Rename a GPU instance',
  example: 'Training',
  answer: { schema: changeResponse, of: (_, instanceId) => ({ instanceId }) },
})
