// The restore drill: a vm without any network on a disk from a backup, and the proof that its system works. It is not
// among the vms that should run, so no boot of the host starts it.
import { say } from '../../controller-link/job-log.ts'
import type { Machine } from '../../drivers/hypervisor/hypervisor.ts'
import { Failure } from '../../failure.ts'
import type { Handlers, Host } from '../../host/host.ts'
import type { DrillProof } from '../../protocol/backup.ts'
import type { hypervisorCommands } from '../../protocol/commands/hypervisor.ts'

const ASK_EVERY_MS = 1000
/** The serial line shows a login before the guest agent is up, which is the better proof. */
const AGENT_AFTER_CONSOLE_MS = 20_000
const CONSOLE_BYTES = 64 << 10
/** A kernel with its initial file system; firmware that finds no system reads less. */
const LEAST_READ_BYTES = 16 << 20

const STARTED =
  /(?:^|[\s.])login: ?\s*$|Reached target .{0,40}(?:Multi-User|Graphical|Login Prompts)|Cloud-init .{0,40} finished/im
const PANIC = /Kernel panic - not syncing/

export const drills = {
  async 'drill.start'({ workload, volume, ...machine }, { storage, hypervisor }) {
    const pool = await storage.answering(volume.pool)
    if ((await pool.sizeBytes(volume)) === undefined)
      throw new Failure('no_volume', `${workload} has no disk on this node`)
    // A definition of a vm that runs stays: the command was sent again.
    if ((await hypervisor.power(workload)) === 'running') return {}
    const vm: Machine = {
      ...machine,
      workload,
      volume,
      hostname: 'restore-drill',
      network: null,
      bootFirst: 'disk',
      iso: null,
      rescue: null,
      seeded: false,
      restartPolicy: 'never',
      speed: { inMbps: null, outMbps: null, cpuPercent: null },
    }
    await hypervisor.define(vm, await pool.disk(volume), undefined)
    await hypervisor.start(workload)
    return {}
  },

  async 'drill.await'({ workload, limitSeconds }, host) {
    const began = performance.now()
    const proof = await firstProof(host, workload, began + limitSeconds * 1000)
    say('info', `${words[proof]} after ${((performance.now() - began) / 1000).toFixed(1)} s`)
    return { proof }
  },
} satisfies Partial<Handlers<typeof hypervisorCommands>>

const words: Record<DrillProof, string> = {
  agent: 'The guest agent answers',
  console: 'The serial line shows that its system has started',
  disk: 'It runs and has read its disk, but neither guest agent nor serial line answers',
}

async function firstProof(host: Host, workload: string, until: number): Promise<DrillProof> {
  let consoleSince: number | undefined
  for (;;) {
    if (await host.hypervisor.guestAnswers(workload)) return 'agent'
    // While the hypervisor restarts nothing is known about the vm, so waiting goes on.
    const power = await host.hypervisor.power(workload).catch(() => 'running')
    if (power !== 'running') throw new Failure('drill_off', `the restored vm is ${power}`)
    const line = new TextDecoder().decode(await host.consoles.tail(workload, CONSOLE_BYTES))
    if (PANIC.test(line)) throw new Failure('drill_panic', 'the kernel of the restored system panicked')
    const now = performance.now()
    if (STARTED.test(line)) consoleSince ??= now
    if (consoleSince !== undefined && (now - consoleSince >= AGENT_AFTER_CONSOLE_MS || now >= until)) return 'console'
    if (now >= until) break
    await Bun.sleep(Math.max(1, Math.min(ASK_EVERY_MS, until - now)))
  }
  const used = (await host.hypervisor.usage()).find(({ id }) => id === workload)
  if (used && used.readBytes >= LEAST_READ_BYTES) return 'disk'
  throw new Failure('drill_no_answer', 'neither its guest agent nor its serial line answers, and it reads no disk')
}
