// The play of a month. Each difference between billing and Berth has a reason that the driver knows: a call that failed
// and is still to be run again, or an act of Berth's staff. Everything else is a problem.
import type { Difference } from '../../../src/billing/reconciliation/compare.ts'
import { blestaShop } from './blesta.ts'
import { fossbillingShop } from './fossbilling.ts'
import { hostingCompany, products } from './panel.ts'
import { paymenterShop } from './paymenter.ts'
import { type Action, type Client, lineOf, type Service, type Shop } from './shop.ts'
import { whmcsShop } from './whmcs.ts'

const systems = [whmcsShop, blestaShop, fossbillingShop, paymenterShop]
const DAY_MS = 86_400_000
const WEEK_DAYS = 7
const LOST = 0.05
/** Shares of calls that are run twice, run three times at once, or whose process dies. */
const [TWICE, AT_ONCE, DIES] = [0.05, 0.04, 0.04]

type Todo = { shop: Shop; service: Service; action: Action; product?: (typeof products)[number] }
export type Size = { clients: number; days: number; atOnce: number; random: () => number }

export async function play({ clients, days, atOnce, random }: Size) {
  await using p = await hostingCompany(systems.length * 2 * clients * 3)
  const all = await Promise.all(systems.flatMap((open) => [1, 2].map((n) => open(p, n, clients))))
  const figures = {
    services: 0,
    calls: 0,
    lost: 0,
    twice: 0,
    atOnce: 0,
    died: 0,
    failed: 0,
    staff: 0,
    events: 0,
    edits: 0,
  }
  const problems: string[] = []
  const chance = (share: number) => random() < share
  /** A short play has as much in a day as a month has in several. */
  const pace = 30 / days
  const daily = (share: number) => chance(share * pace)
  const often = Math.min(3, pace)
  const one = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)]!
  let waiting: Todo[] = []
  /** Services that Berth's staff acted upon since billing was last compared, by their names. */
  const touched = new Set<string>()

  /** The line between billing and Berth is cut: nothing arrives, or no answer does. */
  let isCut = false
  p.fault(
    () => (isCut || chance(LOST)) && ++figures.lost > 0,
    () => (chance(0.7) ? 'lose' : 'hang up'),
    Infinity,
  )

  async function run(todo: Todo) {
    const { shop, service, action, product } = todo
    const call = (dies = false) => {
      figures.calls++
      return shop.call(service, action, { dies, ...(product && { product }) })
    }
    let errors: (string | null)[]
    if (chance(AT_ONCE * often)) {
      figures.atOnce++
      errors = await Promise.all([call(), call(), call()])
    } else if (chance(DIES * often)) {
      figures.died++
      await call(true)
      // The next run of the billing system's cron comes today, or days later.
      return void waiting.push(todo)
    } else errors = [await call()]
    if (chance(TWICE * often)) {
      figures.twice++
      errors.push(await call())
    }
    const error = errors.at(-1)
    if (!error) return
    figures.failed++
    if (/no_answer|wrong_answer|restarting|server_busy|idempotency/.test(error)) waiting.push(todo)
    else if (!isExpected(todo, error)) problems.push(`${shop.name}: ${action} of ${shop.nameOf(service)}: ${error}`)
  }

  /** Refusals that an act of the staff explains: the service has no server, or one in another state. */
  function isExpected({ shop, service, action }: Todo, error: string) {
    const isTouched = touched.has(shop.nameOf(service))
    if (/server_not_found|server_terminated/.test(error)) return isTouched
    if (action === 'upgrade') return /server_suspended|disk_too_small|validation_failed/.test(error) && isTouched
    return false
  }

  async function inTurn(todos: Todo[]) {
    // Calls of one service follow each other, as the queues of billing systems have it.
    const queues = Map.groupBy(todos, ({ service }) => service)
    const rest = [...queues.values()]
    const worker = async () => {
      for (let queue = rest.pop(); queue; queue = rest.pop()) for (const todo of queue) await run(todo)
    }
    await Promise.all(Array.from({ length: atOnce }, worker))
    await p.settle()
  }

  /** The actions that a day brings to a service. */
  function wishes(shop: Shop, service: Service): Todo[] {
    const todo = (action: Action, product?: (typeof products)[number]): Todo[] => [
      { shop, service, action, ...(product && { product }) },
    ]
    if (service.state === 'pending') return todo('create')
    if (service.state === 'terminated') return daily(0.02) ? todo('create') : []
    if (service.state === 'suspended') return daily(0.3) ? todo('unsuspend') : daily(0.05) ? todo('terminate') : []
    const larger = products[products.indexOf(service.product) + 1]
    if (daily(0.03)) return todo('suspend')
    if (daily(0.02)) return todo('terminate')
    if (larger && daily(0.03)) return todo('upgrade', larger)
    return daily(0.05) ? todo('link') : []
  }

  async function staffActs() {
    const servers = p.living()
    for (let n = 0; n < Math.ceil((servers.length * pace) / 60); n++) {
      const server = one(servers)
      if (!server) return
      touched.add(server.service)
      figures.staff++
      const act = (path: string, body: object = {}) => p.admin('POST', `/servers/${server.id}/actions/${path}`, body)
      // Refused where the server is in another state: they look, and leave it.
      await one([
        () => act('suspend', { reason: 'abuse' }),
        () => act('unsuspend'),
        () => p.admin('DELETE', `/servers/${server.id}`, {}),
        async () => {
          await p.admin('DELETE', `/servers/${server.id}`, {})
          await act('undelete')
        },
        () => act('change-package', { packageId: p.packages[one(products)] }),
      ])().catch(() => {})
    }
    await p.settle()
  }

  /** Clients whose billing system leaves the choice to them install their servers in the panel. */
  async function clientsInstall() {
    const { data } = await p.admin('GET', '/admin/servers?status=pending_setup&limit=200')
    for (const { id } of data) {
      const access = { mode: 'password' }
      await p.admin('POST', `/servers/${id}/actions/setup`, {
        imageId: p.image,
        hostname: `own-${id.slice(-8)}`,
        access,
      })
    }
    await p.settle()
  }

  async function cut() {
    await Bun.sleep(200 + random() * 500)
    isCut = true
    await Bun.sleep(400)
    isCut = false
  }

  let lastEvent = ''
  async function deliver() {
    const found: { id: string; data: { server?: { billingServiceId?: string } } }[] = []
    for (let isWhole = false; !isWhole; ) {
      const page = await p.admin('GET', `/events?limit=100${lastEvent && `&after=${lastEvent}`}`)
      found.push(...page.data)
      lastEvent = page.data.at(-1)?.id ?? lastEvent
      isWhole = page.nextCursor === null && page.data.length < 100
    }
    // Some arrive twice, and some after later ones.
    const sent = found.flatMap((event) => (chance(0.05) ? [event, event] : [event]))
    for (let i = 1; i < sent.length; i++) if (chance(0.1)) [sent[i - 1], sent[i]] = [sent[i]!, sent[i - 1]!]
    for (const shop of all) {
      if (!shop.receive) continue
      for (const event of sent) {
        const name = event.data.server?.billingServiceId ?? ''
        // Every receiver hears of all services. The other systems' are passed over at once, so a few of them do.
        if (!name.startsWith('whmcs:') && !chance(0.01)) continue
        figures.events++
        const status = await shop.receive(event)
        if (status !== 200) problems.push(`${shop.name}: an event was answered ${status}`)
      }
      shop.refresh()
    }
  }

  async function difference(): Promise<Difference[]> {
    const services = all.flatMap((shop) =>
      shop.services.filter(({ state }) => state !== 'pending').map((service) => lineOf(shop, service)),
    )
    return (await p.admin('POST', '/usage/reconciliation', { services })).differences
  }

  /** The staff of billing compares, looks whether each difference has a reason, and notes what Berth says. */
  async function compare(when: string) {
    const outstanding = new Set(waiting.map(({ shop, service }) => shop.nameOf(service)))
    const byName = new Map(
      all.flatMap((shop) => shop.services.map((service) => [shop.nameOf(service), { shop, service }])),
    )
    for (const found of await difference()) {
      const name = found.billingServiceId ?? ''
      const at = byName.get(name)
      if (
        !at ||
        !(touched.has(name) || outstanding.has(name)) ||
        ['other_owner', 'listed_twice'].includes(found.kind)
      ) {
        problems.push(`${when}: ${found.kind} ${name}: ${found.words}`)
        continue
      }
      const { shop, service } = at
      if (outstanding.has(name) && !touched.has(name)) continue
      if (found.kind === 'other_state' || found.kind === 'missing_there')
        await shop.note(service, { state: found.here as 'active' })
      if (found.kind === 'other_product') await shop.note(service, { product: found.here as (typeof products)[number] })
      if (found.kind === 'missing_here') await shop.note(service, { state: 'terminated' })
    }
    const keep = new Set([...touched].filter((name) => outstanding.has(name)))
    touched.clear()
    for (const name of keep) touched.add(name)
  }

  for (let day = 1; day <= days; day++) {
    const todos = waiting
    waiting = []
    for (const shop of all) {
      const first = Math.floor(((day - 1) / (days * 0.6)) * clients)
      const last = Math.floor((day / (days * 0.6)) * clients)
      const ordering: Client[] = [
        ...shop.clients.slice(first, last),
        ...(day > 2 && chance(0.7) ? [one(shop.clients.slice(0, first))] : []),
      ]
      for (const client of ordering) {
        if (!client) continue
        figures.services++
        const service = await shop.order(client, `s${figures.services}.example.com`, one(products.slice(0, 2)))
        todos.push({ shop, service, action: 'create' })
      }
      for (const client of shop.clients.slice(0, first))
        if (daily(0.02)) {
          figures.edits++
          client.name = `Cal${client.id} Renamed${day}`
          client.email = `client${client.id}-${day}@${shop.name.replace(' ', '')}.example.com`
          await shop.edit(client)
        }
      const busy = new Set(todos.map(({ service }) => service))
      for (const service of shop.services) if (!busy.has(service)) todos.push(...wishes(shop, service))
    }
    // Staff acts in the middle of billing's run.
    await Promise.all([inTurn(todos), staffActs(), chance(0.5) && cut()])
    await clientsInstall()
    p.turnClock(DAY_MS)
    p.deleteExpired()
    await deliver()
    if (day % WEEK_DAYS === 0) await compare(`day ${day}`)
  }

  // The month ends: nothing is lost any more, what waits is run, events arrive, and billing compares.
  p.faults.length = 0
  for (let round = 0; round < 5 && waiting.length > 0; round++) {
    const todos = waiting
    waiting = []
    for (const todo of todos) {
      const error = await todo.shop.call(todo.service, todo.action, todo.product ? { product: todo.product } : {})
      if (error && !isExpected(todo, error)) problems.push(`at the end: ${todo.shop.name} ${todo.action}: ${error}`)
    }
    await p.settle()
  }
  await deliver()
  await compare('at the end')
  for (const { words } of await difference()) problems.push(`still different: ${words}`)

  const living = p.living()
  const passwords = new Map(living.map(({ id, service }) => [service, { id, told: p.passwords.get(id) }]))
  for (const shop of all)
    for (const service of shop.services.filter(({ state }) => state === 'active' || state === 'suspended')) {
      const name = shop.nameOf(service)
      const { id, told } = passwords.get(name) ?? {}
      const password = shop.password(service)
      if (password && !told?.has(password)) problems.push(`${name} has a password that is not that of ${id}`)
    }
  // Every client sees the servers of its own services, and no other.
  const owners = new Map(living.map(({ client, ownerId }) => [client, ownerId]))
  let seen = 0
  for (const shop of all)
    for (const client of shop.clients) {
      const ownerId = owners.get(shop.clientName(client))
      if (!ownerId) continue
      const shown = (await p.call(p.signIn(ownerId), 'GET', '/servers?limit=100')).body.data as { id: string }[]
      const wanted = shop.services.filter(
        (one) => one.client === client && (one.state === 'active' || one.state === 'suspended'),
      )
      const ids = wanted.map((service) => passwords.get(shop.nameOf(service))?.id).toSorted()
      seen += shown.length
      if (JSON.stringify(shown.map(({ id }) => id).toSorted()) !== JSON.stringify(ids))
        problems.push(`${shop.clientName(client)} sees ${shown.length} servers and has ${ids.length} services`)
    }
  if (seen !== living.length) problems.push(`${living.length} servers are there, and clients see ${seen}`)
  for (const shop of all) await shop.close()
  return { problems, figures: { ...figures, servers: living.length, httpCalls: p.calls.length } }
}
