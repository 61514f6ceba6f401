import { renaming } from '../../workloads/rename.ts'
import { recordResponse } from '../show.ts'
import { actingServer } from '../states.ts'

export const renameServer = renaming(actingServer, {
  path: '/name',
  summary: 'Rename a server; its hostname stays',
  example: 'Shop',
  answer: recordResponse,
})
