// The schema of the record of a GPU instance.

import { Type as t } from 'typebox'
import { RestartPolicy } from '../../../agent/protocol/wire.ts'
import { priceResponse } from '../../catalog/goods.ts'
import { locationReferred } from '../../fleet/locations/reference.ts'
import { roleNames } from '../../identity/team/role.ts'
import { described, namedSchema, nullable, time } from '../../kernel/api/operation.ts'
import { instanceStatuses } from './model.ts'
import { endReasons } from './tables.ts'

const named = namedSchema('Named', { id: t.String(), name: t.String() })
export const instanceResponse = namedSchema('GpuInstance', {
  id: t.String(),
  number: t.Integer(),
  name: t.String(),
  hostname: described(t.String(), 'Of the container.'),
  status: t.Enum(instanceStatuses.statuses),
  failure: described(nullable(t.String()), 'Why setting it up, starting or changing it failed, in words.'),
  suspendReason: described(nullable(t.String()), 'Only for its owner and those who manage it.'),
  lastEnd: described(
    nullable(
      t.Object({
        at: time,
        reason: described(t.Enum([...endReasons]), 'requested: somebody stopped it. crashed: it ended by itself.'),
        exitCode: described(nullable(t.Integer()), 'Null: not known.'),
        oomKilled: described(nullable(t.Boolean()), 'It was killed because its memory was full. Null: not known.'),
        detail: described(nullable(t.String()), 'Of one that ended by itself, in words.'),
      }),
    ),
    'How it ended last; it may run again since.',
  ),
  access: described(
    t.Enum(['own', ...roleNames]),
    'Your access: it is your own or in your care, or its owner gave you this role on it.',
  ),
  owner: described(
    t.Object({ id: t.String(), name: t.String(), email: nullable(t.String()) }),
    'The address is not for those with whom it is shared.',
  ),
  offerId: t.String(),
  offer: named,
  billingProductId: described(nullable(t.String()), 'That of its offer.'),
  billingServiceId: described(
    nullable(t.String()),
    "The billing system's own identifier of it. Only for its owner and those who manage it.",
  ),
  location: locationReferred,
  node: described(nullable(named), 'Staff only.'),
  placement: described(nullable(t.String()), 'Why it is on this host. Staff only.'),
  address: described(nullable(t.String()), 'Its own IPv4 address, or that of its host.'),
  ownAddress: described(t.Boolean(), 'The address is its own: every port leads to it.'),
  ports: described(
    t.Array(t.Object({ container: t.Integer(), host: t.Integer() })),
    'Ports of the container, and the ports of the address that lead to them; empty where every port does.',
  ),
  httpPorts: described(
    t.Array(t.Object({ port: t.Integer(), url: t.String() })),
    'Ports of the container with an HTTP name of their own.',
  ),
  httpDomain: described(nullable(t.String()), 'The domain of these names; null: its host serves none.'),
  sshCommand: nullable(t.String()),
  jupyterUrl: described(
    nullable(t.String()),
    'A link that opens Jupyter as root; null: its image has none, or you may only look.',
  ),
  image: namedSchema('GpuInstanceImage', {
    id: t.String(),
    name: t.String(),
    docsUrl: described(nullable(t.String()), 'Instructions for what it runs.'),
  }),
  openUrl: described(nullable(t.String()), 'The way in that its image names, in a browser; null: it names none.'),
  price: described(nullable(priceResponse), 'Of its offer, as it is now; null: none is shown to you.'),
  images: described(t.Array(named), 'From which it can be made anew.'),
  cards: t.Array(
    t.Object({ model: t.String(), memoryMb: t.Integer(), uuid: described(nullable(t.String()), 'Staff only.') }),
  ),
  vcpus: t.Integer(),
  memoryMb: t.Integer(),
  workspaceGb: described(t.Integer(), 'The size of /workspace in GiB.'),
  environment: described(
    nullable(t.Array(t.String())),
    'Variables as `NAME=value` that were set beside those of the image. Only for its owner and those who manage it.',
  ),
  command: described(nullable(t.Array(t.String())), 'Null: the command of its image.'),
  sshKeys: described(
    t.Array(t.Object({ id: t.String(), name: t.String(), fingerprint: t.String() })),
    'The keys that root login accepts, as they were when they were chosen.',
  ),
  restartPolicy: described(RestartPolicy, 'What its host does when it ends by itself.'),
  job: described(
    nullable(t.Object({ id: t.String(), kind: t.String(), progress: t.Integer() })),
    'The job that holds it now.',
  ),
  locked: described(t.Boolean(), 'Its owner or you are a locked customer, so it cannot be changed.'),
  nodeConnected: described(t.Boolean(), 'While its host is away it runs on, but cannot be changed.'),
  nodeSeenAt: described(nullable(time), 'When its host, which is away, was last connected.'),
  allowed: described(t.Array(t.String()), 'What its state allows now, of what you may do with it: for buttons.'),
  createdAt: time,
  terminatedAt: nullable(time),
})
