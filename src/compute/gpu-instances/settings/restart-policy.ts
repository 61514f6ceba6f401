import { settingRestartPolicyOf } from '../../workloads/restart-policy.ts'
import { changeResponse } from '../model.ts'
import { actingInstance } from '../state.ts'

export const setInstanceRestartPolicy = settingRestartPolicyOf(actingInstance, {
  summary:
    'Choose what happens when a GPU instance ends by itself: it is started again always, after a crash, or never; in ' +
    'force from its next start',
  answer: { schema: changeResponse, of: (instanceId) => ({ instanceId }) },
})
