import { feature } from '../../kernel/feature.ts'
import { fullHost } from './attention.ts'
import { getPanelHost } from './panel-host.ts'
import { getStatus } from './status.ts'

export const hostFeature = feature({
  name: 'host',
  operations: [getStatus, getPanelHost],
  attention: [fullHost],
})
