// Operations, pages and documents behind their paths, for everybody and for this host alone.
import type { Elysia } from 'elysia'
import { errorPage } from '../../../views/frame/error.tsx'
import { always, beside, isRunning, layout } from '../../../views/frame/layout.tsx'
import { system } from '../../kernel/api/actor.ts'
import { API_ROOT, type HttpContext, Routes, type Sender } from '../../kernel/api/http.ts'
import type { IncomingRequest } from '../../kernel/api/response.ts'
import type { RouteParts } from '../../kernel/feature.ts'
import { pathStart } from '../../kernel/net/raw-path.ts'
import { openapi } from '../../kernel/openapi/openapi.ts'
import { VERSION } from '../../kernel/version.ts'
import { isInNav } from '../../kernel/web/navigation.ts'
import type { leadingTo } from '../../kernel/web/page.ts'
import { addPages } from '../../kernel/web/serve-pages.ts'
import type { Site } from '../../kernel/web/site.ts'
import { brandFor } from '../../platform/settings/brand.ts'
import type { WithApp } from './base.ts'

/** The router looks for the path from here on: it takes the name of a host for four characters at least. */
const ROUTER_LOOKS_FROM = 11

/** `leads`: may this person open the page at an address? */
export function siteOf(base: WithApp, { httpContext, assets }: RouteParts, leads: ReturnType<typeof leadingTo>): Site {
  const { registry, db, clock, config } = base
  return {
    registry,
    pages: registry.pages,
    leads,
    isInNav: (entry, actor) => isInNav(entry, db, actor),
    always,
    layout,
    beside,
    isRunning,
    asset: (name) => assets.url(name),
    errorPage,
    httpContext,
    brand: (accountId) => brandFor(db, accountId),
    clock,
    insecure: config.agentInsecure,
  }
}

export function publicRouter({ registry, config }: WithApp, parts: RouteParts, site: Site): Elysia {
  const { httpContext } = parts
  const routes = new Routes(httpContext)
  routes.addOperations(registry.operations)
  routes.addDocument('/openapi.json', () => openapi(registry, { version: VERSION, root: config.origin + API_ROOT }))
  for (const [method, path, answer] of registry.routes(parts)) routes.add(method, path, answer)
  addPages(routes, site)
  routes.refuseOthers()
  return routes.router
}

/** A router of its own for the local socket: no header of a public request can reach the System actor. */
export function localRouter({ registry }: WithApp, httpContext: HttpContext): Elysia {
  const authenticate = ({ info }: IncomingRequest): Sender => {
    info.by = system.name
    return { actor: system, limitKey: '' }
  }
  // `berth admin` in a loop must not wait for itself.
  const routes = new Routes({ ...httpContext, authenticate, calls: { take() {}, count() {} } })
  routes.addOperations(registry.allOperations)
  routes.refuseOthers()
  return routes.router
}

/** The request under an address whose path the router finds. Nothing reads the name of the host there. */
export function forRouter(request: IncomingRequest): IncomingRequest {
  const { url } = request
  const start = pathStart(url)
  return start >= ROUTER_LOOKS_FROM
    ? request
    : Object.defineProperty(request, 'url', { value: `http://localhost${url.slice(start)}` })
}
