// How a call is authenticated, limited and let through to its operation.

import { authenticate } from '../../identity/auth/authenticate.ts'
import { HeldRights } from '../../identity/auth/held-rights.ts'
import { TokenUses } from '../../identity/tokens/uses.ts'
import { startedBy } from '../../kernel/api/actor.ts'
import { gate, refusedEarly } from '../../kernel/api/gate.ts'
import type { HttpContext } from '../../kernel/api/http.ts'
import { Limit } from '../../kernel/api/limits.ts'
import { read } from '../../kernel/db/open.ts'
import type { WithApp } from './base.ts'

export function makeHttpContext(base: WithApp, callsPerMinute: number): HttpContext {
  const { registry, db, app, clock, config, life } = base
  const heldRights = new HeldRights(registry, 500)
  const tokenUses = new TokenUses(db)
  return {
    gate: gate(db, app),
    refused: (op, request, error) => refusedEarly(db, app, op, request, error),
    authenticate(request, on) {
      const { info } = request
      const sender = authenticate(db, {
        rights: heldRights,
        uses: tokenUses,
        request,
        origin: config.origin,
        now: clock(),
        info,
        onPage: on === 'page',
      })
      if (sender.actor) info.by = startedBy(sender.actor).id
      return sender
    },
    settle: () => tokenUses.settle(),
    isSettled: tokenUses.isSettled,
    reading: (work) => read(db, work),
    origin: config.origin,
    calls: new Limit(callsPerMinute, clock),
    restarting: () => life.isRestarting,
    mustBeWritable: () => db.$client.health.mustBeWritable(),
  }
}
