// Types of events whose features are not built yet. They have their audience and their data here, so that a webhook can
// be set up for them today; the feature that emits one takes its declaration over.
import { Type as t } from 'typebox'
import { customerData } from '../../identity/accounts/model.ts'
import { nullable, time } from '../../kernel/api/operation.ts'
import { event } from '../../kernel/jobs/outbox.ts'

const gpuInstance = t.Object({
  id: t.String(),
  name: t.String(),
  status: t.String(),
  offerId: t.String(),
  billingProductId: nullable(t.String()),
  location: t.String(),
  address: nullable(t.String()),
  createdAt: time,
})
const transfer = {
  transfer: t.Object({ id: t.String(), mode: t.String(), from: t.String(), to: t.String() }),
  server: t.Object({ id: t.String(), hostname: t.String() }),
}
const ofInstance = { gpuInstance, customer: customerData }
/** Why an instance started or stopped; a crash also says how it ended. */
const spell = {
  ...ofInstance,
  reason: t.String(),
  detail: t.Optional(t.String()),
  exitCode: t.Optional(t.Integer()),
  oomKilled: t.Optional(t.Boolean()),
}
const both = 'resellers and customers'

export const laterTypes = {
  'gpu_instance.created': event('resellers', 'Created and being set up', t.Object(ofInstance)),
  'gpu_instance.ready': event(both, 'Finished setting up and runs', t.Object(ofInstance)),
  'gpu_instance.started': event(both, 'Started, restarted or unsuspended', t.Object(spell)),
  'gpu_instance.stopped': event(both, 'Stopped on request or on its own', t.Object(spell)),
  'gpu_instance.failed': event(
    both,
    'Setting up, starting or changing failed',
    t.Object({ ...ofInstance, action: t.String(), error: t.String() }),
  ),
  'gpu_instance.image_changed': event(both, 'Made again from another image', t.Object(ofInstance)),
  'gpu_instance.suspended': event(both, 'Suspended', t.Object({ ...ofInstance, reason: t.String() })),
  'gpu_instance.unsuspended': event(both, 'Unsuspended', t.Object(ofInstance)),
  'gpu_instance.deleted': event(both, 'Instance and its /workspace deleted', t.Object(ofInstance)),
  'transfer.started': event('staff only', 'A move between nodes starts', t.Object(transfer)),
  'transfer.finished': event(
    'staff only',
    'A move between nodes finishes',
    t.Object({ ...transfer, downtimeMs: t.Integer() }),
  ),
  'transfer.failed': event('staff only', 'A move between nodes fails', t.Object({ ...transfer, error: t.String() })),
}
