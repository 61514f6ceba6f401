// The few routes that are neither operations nor pages: agents' paths, static files, branding, browsers' reports, and
// the button that leads to an identity provider.
import { agentPaths } from '../../agent/protocol/wire.ts'
import type { AgentEndpoints } from '../fleet/nodes/agent-connection.ts'
import { START_PATH } from '../identity/auth/identity-provider/oidc.ts'
import { startAtProvider } from '../identity/auth/identity-provider/start.ts'
import type { HttpContext } from '../kernel/api/http.ts'
import type { IncomingRequest } from '../kernel/api/response.ts'
import type { Clock } from '../kernel/db/clock.ts'
import type { Db } from '../kernel/db/open.ts'
import { ASSET_ROOT, type Assets } from '../kernel/web/assets.ts'
import { CSP_REPORT, cspReports } from '../kernel/web/csp-report.ts'
import { answerBrand } from '../platform/settings/brand.ts'

type Parts = { db: Db; clock: Clock; httpContext: HttpContext; agents: AgentEndpoints; assets: Assets }
type Route = readonly ['GET' | 'POST', string, (request: IncomingRequest) => Response | Promise<Response>]

export const otherRoutes = ({ db, clock, httpContext, agents, assets }: Parts): readonly Route[] => [
  ['POST', agentPaths.enroll, (request) => agents.enroll(request)],
  ['POST', agentPaths.challenge, (request) => agents.challenge(request)],
  ['GET', `${agentPaths.images}/*`, (request) => agents.image(request)],
  ['GET', `${agentPaths.program}/*`, (request) => agents.program(request)],
  ['GET', `${ASSET_ROOT}/*`, (request) => assets.answer(request)],
  ['GET', '/brand/*', (request) => answerBrand(db, request)],
  ['POST', CSP_REPORT, cspReports(clock)],
  ['GET', START_PATH, (request) => startAtProvider(httpContext, request)],
]
