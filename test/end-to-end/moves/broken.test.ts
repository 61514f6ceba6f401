// Real guests whose moves break: each program of both nodes and the controller is killed at the switch, and the
// network between the nodes is cut in each phase. Afterwards exactly one node runs the guest, the record says which,
// no write of the guest is missing, and the next try succeeds. All of it takes half an hour: with BERTH_LONG alone.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { note } from '../../drivers/tools.ts'
import { beginCounting, counterIn, gapsIn, takeCounter } from '../../support/nodes/counting.ts'
import { type NodeName, noRealNodes, type Ordered, otherNode, RealNodes } from '../../support/nodes/real-nodes.ts'
import { eventually } from '../../support/waiting/eventually.ts'

/** Memory that takes some ten seconds, so that there is time to break something. */
const SLOW_MBPS = 60
const LIMIT_MS = 900_000
const reason = process.env['BERTH_LONG'] ? await noRealNodes() : 'BERTH_LONG is not set'

describe.skipIf(note(reason, 'moves that break at the switch'))('a real move that breaks', () => {
  const nodes = new RealNodes('mb')
  let server: Ordered
  let home: NodeName = 'a'
  let last = 0

  beforeAll(async () => {
    await nodes.open()
    server = await nodes.order()
    await nodes.inGuest(server.ipv4, takeCounter, await counterIn(nodes.live.dir))
    await nodes.inGuest(server.ipv4, beginCounting)
  }, 400_000)
  afterAll(() => nodes.close(), 60_000)

  const powers = async () => [
    await nodes.powerOn(home, server.serverId),
    await nodes.powerOn(otherNode(home), server.serverId),
  ]
  /** Looks for a second instance of the guest all the time; `end` answers whether there was one that ran. */
  function watching() {
    const both: string[] = []
    let isOver = false
    const watch = (async () => {
      while (!isOver) {
        const states = await powers()
        if (states.every((state) => state === 'running')) both.push(states.join())
        await Bun.sleep(100)
      }
    })()
    return async () => {
      isOver = true
      await watch
      return both
    }
  }

  type Break = { body?: object; step: string; fault(): Promise<unknown>; settles?: 'here' | 'there' | 'either' }
  /** Moves, breaks it at the step, and looks at what is left. `settles`: where the guest must be afterwards. */
  async function broken({ body = { mode: 'live', maxMbps: SLOW_MBPS }, step, fault, settles = 'either' }: Break) {
    const from = home
    const to = otherNode(home)
    const end = watching()
    const { jobId, transferId } = await nodes.begin(server.serverId, to, body)
    await nodes.atStep(jobId, step)
    await fault()
    const job = await nodes.ended(jobId)
    const transfer = await nodes.transfer(transferId)
    process.stderr.write(
      `  ${job.state}, ${transfer.state}, off for ${transfer.downtimeMs} ms: ${transfer.error ?? '-'}\n`,
    )
    expect(transfer.state).toBe(job.state === 'succeeded' ? 'finished' : 'failed')
    home = transfer.state === 'finished' ? to : from
    if (settles !== 'either') expect(home).toBe(settles === 'here' ? from : to)
    await mustBeHome()
    expect(await end()).toEqual([])
    return transfer
  }

  /** The record, the hypervisors and the guest say the same. */
  async function mustBeHome() {
    const { body } = await nodes.api('GET', `/servers/${server.serverId}`)
    expect([body.status, body.node?.id ?? nodes.ids[home]]).toEqual(['running', nodes.ids[home]])
    await nodes.isClear(otherNode(home), server.serverId)
    expect(await powers()).toEqual(['running', ''])
    expect((await nodes.processesOn(otherNode(home), server.serverId)).length).toBe(0)
    const read = async () => gapsIn(await nodes.inGuest(server.ipv4, 'cat /root/counter'))
    let counted = await read()
    // A guest that was started from its disk counts no more.
    if (counted.last === last || (await nodes.inGuest(server.ipv4, 'pgrep -x count || pgrep -f /root/count')) === '')
      await nodes.inGuest(server.ipv4, beginCounting)
    expect(counted.gap).toBeUndefined()
    await eventually(async () => (counted = await read()).last > 0)
    last = counted.last
  }

  /** The same again without a fault. */
  async function retried() {
    const to = otherNode(home)
    const transfer = await nodes.move(server.serverId, to, { mode: 'live' })
    expect(transfer).toMatchObject({ state: 'finished', error: null })
    home = to
    await mustBeHome()
  }

  const MEMORY = 'Handing it over'
  const middle = () => Bun.sleep(1500)

  for (const [who, fault] of [
    ['libvirt of the source', () => nodes.killLibvirt(home)],
    ['libvirt of the target', () => nodes.killLibvirt(otherNode(home))],
    ['the agent of the source', () => nodes.restartAgent(home)],
    ['the agent of the target', () => nodes.restartAgent(otherNode(home))],
    ['the SSH server of the target', () => nodes.killSsh(otherNode(home))],
    ['the controller', () => nodes.restartController()],
  ] as const)
    for (const [when, wait] of [
      ['as soon as its memory is to be sent', async () => {}],
      ['while its memory is sent', middle],
    ] as const)
      test(
        `${who} is killed ${when}`,
        async () => {
          await broken({
            step: MEMORY,
            fault: async () => {
              await wait()
              await fault()
            },
          })
          await retried()
        },
        LIMIT_MS,
      )

  for (const [moment, settles] of [
    ['transfer.migrate:before', 'either'],
    ['transfer.migrate:after', 'there'],
  ] as const)
    test(
      `the agent of the source dies at ${moment}`,
      async () => {
        const source = home
        await nodes.restartAgent(source, moment)
        await broken({
          body: { mode: 'live' },
          step: MEMORY,
          settles,
          fault: async () => {
            await nodes.agentEnded(source)
            nodes.startAgent(source)
          },
        })
        await retried()
      },
      LIMIT_MS,
    )

  for (const moment of ['transfer.resume:before', 'transfer.resume:after'] as const)
    test(
      `the agent of the target dies at ${moment}`,
      async () => {
        const target = otherNode(home)
        await nodes.restartAgent(target, moment)
        await broken({
          body: { mode: 'live' },
          step: MEMORY,
          settles: 'there',
          fault: async () => {
            await nodes.agentEnded(target)
            nodes.startAgent(target)
          },
        })
        await retried()
      },
      LIMIT_MS,
    )

  for (const [moment, settles] of [
    ['move/hand-over:before', 'either'],
    ['move/hand-over:noted', 'either'],
    ['move/hand-over:answered', 'there'],
    ['move/switch:answered', 'there'],
    ['move/give:noted', 'there'],
    ['move/give:answered', 'there'],
  ] as const)
    test(
      `the controller dies at ${moment}`,
      async () => {
        await nodes.killController()
        await nodes.serve(moment)
        await broken({
          body: { mode: 'live' },
          step: 'Copying its disks while it runs',
          settles,
          fault: async () => {
            await nodes.controllerEnded()
            await nodes.serve()
          },
        })
        await retried()
      },
      LIMIT_MS,
    )

  for (const [phase, step] of [
    ['its disks are copied', 'Copying its disks while it runs'],
    ['its memory is sent', MEMORY],
  ] as const)
    for (const seconds of [1, 30, Number.POSITIVE_INFINITY])
      test(
        `the network is away ${Number.isFinite(seconds) ? `for ${seconds} s` : 'for good'} while ${phase}`,
        async () => {
          const target = otherNode(home)
          let back: Promise<unknown> = Promise.resolve()
          const cut = async () => {
            await middle()
            await nodes.cut(target, true)
            if (Number.isFinite(seconds)) {
              await Bun.sleep(seconds * 1000)
              await nodes.cut(target, false)
            }
            // Long after both nodes have given the connection up.
            else back = Bun.sleep(150_000).then(() => nodes.cut(target, false))
          }
          await broken({ step, fault: cut, ...(seconds > 1 && { settles: 'here' }) })
          await back
          await retried()
        },
        LIMIT_MS,
      )

  for (const [who, fault] of [
    ['the agent of the source', () => nodes.restartAgent(home)],
    ['the agent of the target', () => nodes.restartAgent(otherNode(home))],
    ['the SSH server of the target', () => nodes.killSsh(otherNode(home))],
    ['the controller', () => nodes.restartController()],
  ] as const)
    for (const step of ['Shutting it down', 'Copying its disks', 'Giving it to the other node'] as const)
      test(
        `${who} is killed at “${step}” of a move for which the guest is shut down`,
        async () => {
          await broken({ body: { mode: 'near_live' }, step, fault })
          await retried()
        },
        LIMIT_MS,
      )
})
