// Types of events whose features are not built yet. They have their audience and their data here, so that a webhook can
// be set up for them today; the feature that emits one takes its declaration over.
import { Type as t } from 'typebox'
import { event } from '../../kernel/jobs/outbox.ts'

const transfer = {
  transfer: t.Object({ id: t.String(), mode: t.String(), from: t.String(), to: t.String() }),
  server: t.Object({ id: t.String(), hostname: t.String() }),
}
export const laterTypes = {
  'transfer.started': event('staff only', 'A move between nodes starts', t.Object(transfer)),
  'transfer.finished': event(
    'staff only',
    'A move between nodes finishes',
    t.Object({ ...transfer, downtimeMs: t.Integer() }),
  ),
  'transfer.failed': event('staff only', 'A move between nodes fails', t.Object({ ...transfer, error: t.String() })),
}
