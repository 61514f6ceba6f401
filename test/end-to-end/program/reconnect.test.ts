// Agents whose controller restarts. A challenge that the process before answered reaches the next one: the node is
// healthy, and nothing may tell it that it was removed.
import { expect, test } from 'bun:test'
import { agentsLog, allConnected, startAgents } from '../../bench/agents.ts'
import { serviceManager } from '../../support/services/service-manager.ts'
import { installation } from '../../support/world/processes.ts'
import { program } from '../../support/world/program.ts'
import { seed } from '../../support/world/seed.ts'

const AGENTS = 50
const RESTARTS = process.env['BERTH_LONG'] ? 100 : 15
/** From the moment at which the controller answers again, beside the time that this machine takes to start it. */
const MOST_AWAY_SECONDS = 3

for (const [where, keepsSocket] of [
  ['behind a kept socket', true],
  ['without a service manager', false],
] as const)
  test(`${RESTARTS} restarts ${where}: none of ${AGENTS} agents hears of a removal or is away for long`, async () => {
    const live = await installation({ PANEL_TRUSTED_PROXIES: '127.0.0.1/32' })
    const seeded = seed(live.dir, { servers: AGENTS, customers: 5, nodes: AGENTS, tokens: 1, freeAddresses: 1 })
    const manager = keepsSocket ? serviceManager(`${live.dir}/notify`) : undefined
    const start = () => {
      const passed = manager?.passes([...program, 'serve'])
      return Bun.spawn(passed?.command ?? [...program, 'serve'], {
        env: { PATH: process.env['PATH']!, HOME: '/root', ...live.env, ...passed?.env },
        stdio: ['ignore', 'ignore', Bun.file(`${live.dir}/controller.log`), ...(passed?.fds ?? [])] as any,
      })
    }
    const answersAgain = async () => {
      for (const began = performance.now(); ; await Bun.sleep(5)) {
        const ok = await fetch(`${live.url}/api/v1/status`, { keepalive: false }).then(
          (r) => r.ok,
          () => false,
        )
        if (ok) return performance.now() - began
      }
    }
    let controller = start()
    await answersAgain()
    const agents = await startAgents(live.url, seeded.nodes, 1)
    try {
      await allConnected(agents, AGENTS, 60)
      const backSeconds: number[] = []
      let slowestStartMs = 0
      for (let i = 0; i < RESTARTS; i++) {
        controller.kill('SIGTERM')
        expect(await controller.exited).toBe(0)
        controller = start()
        slowestStartMs = Math.max(slowestStartMs, await answersAgain())
        // Every other restart comes while the agents are on their way back.
        if (i % 2) await Bun.sleep(Math.random() * 300)
        else backSeconds.push(await allConnected(agents, AGENTS, 30))
      }
      await allConnected(agents, AGENTS, 30)
      const longest = Math.max(...backSeconds)
      console.log(
        `${RESTARTS} restarts: all agents back after ${longest.toFixed(1)} s at most, ` +
          `${agents.pulse!.tooOld} challenges of the process before`,
      )
      expect(await agentsLog()).not.toContain('removed')
      if (keepsSocket) expect(agents.pulse!.tooOld).toBeGreaterThan(0)
      expect(longest).toBeLessThan(MOST_AWAY_SECONDS + slowestStartMs / 1000)
    } finally {
      await agents.stop()
      controller.kill('SIGTERM')
      await controller.exited
      manager?.close()
      await live.close()
    }
  }, 400_000)
