import { feature } from '../feature.ts'
import { ASSET_ROOT } from './assets.ts'
import { CSP_REPORT, cspReports } from './csp-report.ts'

export const webFeature = feature({
  name: 'web',
  routes: ({ app, assets }) => [
    ['GET', `${ASSET_ROOT}/*`, (request) => assets.answer(request)],
    ['POST', CSP_REPORT, cspReports(app.clock)],
  ],
})
