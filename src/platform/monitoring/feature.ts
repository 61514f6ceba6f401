// Figures of the installation for a monitoring system, in the text format of Prometheus.
import { answeringAs } from '../../kernel/api/http.ts'
import { operation, stream } from '../../kernel/api/operation.ts'
import { feature } from '../../kernel/feature.ts'
import { asText } from '../../kernel/monitoring.ts'
import { controllerFigures, jobFigures, queueFigures } from './figures.ts'
import { nodeFigures } from './nodes.ts'

const scopes = { 'metrics:read': { words: 'Read the figures of the installation for monitoring' } } as const
const permissions = {
  'metrics.read': { words: 'Read the figures for monitoring', opens: ['metrics:read'] },
} as const

declare module '../../kernel/register.ts' {
  interface Names {
    monitoring: { scopes: typeof scopes; permissions: typeof permissions }
  }
}

export const getFigures = operation({
  id: 'monitoring.metrics',
  method: 'GET',
  path: '/metrics',
  summary: 'Figures of the installation in the text format of Prometheus; also at /metrics outside of the API',
  access: { staff: ['metrics:read'] },
  produces: 'text/plain',
  response: stream,
  run(call) {
    const { tx: db, registry } = call
    // Read at once: the text is then sent without a snapshot being held open.
    return asText(registry.features.flatMap(({ figures }) => figures?.({ db, app: call }) ?? []))
  },
})

export const monitoringFeature = feature({
  name: 'monitoring',
  scopes,
  permissions,
  operations: [getFigures],
  figures: (parts) => [
    ...controllerFigures(parts),
    ...nodeFigures(parts),
    ...jobFigures(parts),
    ...queueFigures(parts),
  ],
  routes: ({ httpContext }) => [['GET', '/metrics', answeringAs(httpContext, getFigures)]],
})
