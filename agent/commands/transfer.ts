import { progress } from '../controller-link/job-log.ts'
import { brought, openTransfer } from '../drivers/transfer/opening.ts'
import type { Copying, ServedVolume } from '../drivers/transfer/transfer.ts'
import { Failure, wordsOf } from '../failure.ts'
import type { Handlers, Host } from '../host/host.ts'
import { log } from '../log.ts'
import type { transferCommands } from '../protocol/commands/transfer.ts'
import type { ArrivingDisk, Copied, Input, Volume } from '../protocol/wire.ts'

export const transfer = {
  async 'transfer.key'({ transfer, workload }, { state, transfers }) {
    const publicKey = await transfers.key(transfer)
    state.keepLeaving(transfer, workload)
    return { publicKey }
  },

  async 'transfer.receive'(input, host) {
    const known = host.state.transfer(input.transfer)?.receive?.disks ?? []
    const made = brought(input)
    for (const disk of input.disks) if (disk.shared !== undefined) await mustBeShared(host, disk, disk.shared)
    for (const { volume } of made)
      if (!known.some((disk) => Bun.deepEquals(disk.volume, volume))) await mustBeFree(host, volume)
    // Before the first disk: those that a crash leaves half way are the transfer's own.
    host.state.keepArriving(input)
    for (const disk of made) await makeDisk(host, disk)
    const listening = await openTransfer(host, input)
    return { ...listening, ...(input.firmware && { firmware: true }) }
  },

  async 'transfer.copy'(input, host) {
    const { transfer, workload, firmware } = input
    await mustBeOff(host, workload)
    const copied = await copying(host, input, firmware && (await host.firmwareStates.save(transfer, firmware)))
    return timed(() => host.transfers.copy(copied))
  },

  async 'transfer.mirror'(input, host) {
    await mustRun(host, input.workload)
    const copied = await copying(host, input)
    return timed(() => host.transfers.mirror(copied))
  },

  async 'transfer.checksum'({ transfer, workload, disks: volumes, ahead }, host) {
    await mustBeOff(host, workload)
    const read = async (isTold: boolean) => {
      const disks = []
      for (const [number, volume] of volumes.entries()) {
        const onPercent = (percent: number) => isTold && progress((100 * number + percent) / volumes.length)
        disks.push(
          await host.transfers.checksum({ transfer, number, ...(await servedVolume(host, volume)) }, onPercent),
        )
      }
      return disks
    }
    if (!ahead) return { disks: await read(true) }
    // The next one who asks gets what fails now.
    void read(false).catch((error) => log('info', 'disks could not be read ahead', { transfer, error: wordsOf(error) }))
    return { disks: [] }
  },

  async 'transfer.begin-migration'(input, host) {
    if (host.state.transfer(input.transfer)?.owns !== false) await mustRun(host, input.workload)
    const migrating = await copying(host, input)
    return timed(() => host.migration.begin(migrating))
  },

  /** Neither node starts the vm while it is not known which of them has it: also where a crash ends this command. */
  async 'transfer.migrate'(input, host) {
    const { state, migration } = host
    const { transfer, workload } = input
    if (state.transfer(transfer)?.owns !== false) await mustRun(host, workload)
    const migrating = await copying(host, input)
    state.setOwns(transfer, false)
    try {
      const migrated = await timed(() => migration.migrate(migrating))
      state.wantStopped(workload)
      return migrated
    } catch (error) {
      // It runs on here, as the contract of `migrate` says.
      state.setOwns(transfer, true)
      throw error
    }
  },

  async 'transfer.limit'({ transfer, maxMbps }, { migration, state, transfers }) {
    if (!state.transfer(transfer)) return {}
    // Over a start of the agent too, after which the copy is ordered as it was at first.
    state.noteLimit(transfer, maxMbps)
    migration.limit(transfer, maxMbps)
    await transfers.limit(transfer, maxMbps)
    return {}
  },

  async 'transfer.renew'({ transfer, workload, expiresAt }, host) {
    const { hypervisor, state, transfers } = host
    const known = state.transfer(transfer)
    if (!known?.receive) throw new Failure('no_transfer', `the transfer ${transfer} is not open on this node`)
    // The source has no business here any more.
    if (known.owns) return {}
    const receive = { ...known.receive, expiresAt }
    state.keepArriving(receive)
    if ((await transfers.renew(transfer, expiresAt)) || (await hypervisor.power(workload)) === 'paused') return {}
    // It had expired, or a start of the agent has not opened it yet.
    await openTransfer(host, receive)
    if (!state.transfer(transfer)) await transfers.end(transfer)
    return {}
  },

  async 'transfer.place-firmware'({ transfer, workload, volume }, host) {
    if (!host.state.transfer(transfer)?.receive)
      throw new Failure('no_transfer', `this node is not the target of the transfer ${transfer}`)
    await mustBeOff(host, workload)
    await host.firmwareStates.place(transfer, volume)
    return {}
  },

  /** Also where a database is put in place that knows nothing of the move, the two nodes never both run it. */
  async 'transfer.give'({ transfer, workload, given }, host) {
    if (given) {
      mustKnow(host, transfer)
      await mustBeOff(host, workload)
    }
    host.state.setOwns(transfer, !given)
    return {}
  },

  async 'transfer.resume'({ transfer, workload }, { hypervisor, migration, state, transfers }) {
    if (!state.transfer(transfer)?.receive)
      throw new Failure('no_transfer', `this node is not the target of the transfer ${transfer}`)
    state.setOwns(transfer, true)
    const { resumedAt } = await migration.resume(workload)
    // The source has no business here any more, and a vm opens its disks alone.
    await transfers.end(transfer)
    const power = await hypervisor.power(workload)
    if (power === 'running') state.wantRunning(workload)
    return { power, resumedAt }
  },

  async 'transfer.look'({ transfer, workload }, { migration, state }) {
    const { power, reason } = await migration.find(workload)
    return { power, reason: reason.slice(0, 200), owns: state.transfer(transfer)?.owns ?? null }
  },

  async 'transfer.end'({ transfer, discard, shares = [] }, host) {
    const { migration, state, transfers } = host
    await migration.forget(transfer)
    await transfers.end(transfer)
    await host.firmwareStates.forget(transfer)
    const known = state.transfer(transfer)
    if (discard && known?.receive && !known.owns)
      for (const { volume, shared } of known.receive.disks) {
        await host.hypervisor.forgetFirmware(volume)
        if (shared === undefined) await (await host.storage.answering(volume.pool)).remove(volume)
      }
    for (const volume of shares) await host.hypervisor.forgetFirmware(volume)
    state.forgetTransfer(transfer)
    return {}
  },
} satisfies Handlers<typeof transferCommands>

async function mustBeFree({ storage }: Host, volume: Volume) {
  const pool = await storage.answering(volume.pool)
  if ((await pool.sizeBytes(volume)) !== undefined)
    throw new Failure('volume_differs', `${(await pool.disk(volume)).path} is there already, and is left as it is`)
}

/** The pool may be another one by now than the node has told. */
async function mustBeShared({ storage }: Host, { volume, sizeBytes }: ArrivingDisk, shared: string) {
  const pool = await storage.answering(volume.pool)
  const { path } = await pool.disk(volume)
  const here = await pool.storage?.()
  if (here !== shared)
    throw new Failure(
      'volume_differs',
      `${path} was to be in ${shared}, and the pool here is ${here ?? 'none of other nodes'}`,
    )
  const foundBytes = await pool.sizeBytes(volume)
  if (foundBytes !== sizeBytes)
    throw new Failure('volume_differs', `${path} has ${foundBytes ?? 'no'} bytes in ${shared}, not ${sizeBytes}`)
}

/** Of exactly this size: a copy and a migration refuse another one. */
async function makeDisk({ storage }: Host, { volume, sizeBytes }: ArrivingDisk) {
  const pool = await storage.answering(volume.pool)
  await pool.receive(volume, sizeBytes, async () => {})
  const madeBytes = await pool.sizeBytes(volume)
  if (madeBytes !== sizeBytes)
    throw new Failure('volume_differs', `${(await pool.disk(volume)).path} has ${madeBytes} bytes, not ${sizeBytes}`)
}

async function mustBeOff({ hypervisor }: Host, workload: string) {
  const power = await hypervisor.power(workload)
  if (power === 'running' || power === 'paused') throw new Failure('vm_runs', `${workload} is ${power}`)
}

async function mustRun({ hypervisor }: Host, workload: string) {
  const power = await hypervisor.power(workload)
  if (power !== 'running') throw new Failure('not_running', `${workload} is ${power}, so it is not moved while it runs`)
}

async function copying(
  host: Host,
  { transfer, workload, to, disks, maxMbps }: Input<'transfer.copy'>,
  last?: ServedVolume,
): Promise<Copying> {
  const { state } = host
  mustKnow(host, transfer)
  return {
    ...{ transfer, workload, to },
    get maxMbps() {
      return state.limitOf(transfer, maxMbps)
    },
    disks: [...(await Promise.all(disks.map((volume) => servedVolume(host, volume)))), ...(last ? [last] : [])],
    begun: {
      has: (disk) => state.transfer(transfer)?.begun.includes(disk) ?? false,
      add: (disk) => state.noteBegun(transfer, disk),
    },
  }
}

function mustKnow({ state }: Host, transfer: string) {
  if (!state.transfer(transfer))
    throw new Failure('no_transfer', `this node does not know the transfer ${transfer}; transfer.key comes first`)
}

/** Adds the time that the copy took. */
async function timed<T extends Copied>(copy: () => Promise<T>): Promise<T> {
  const began = performance.now()
  const copied = await copy()
  return { ...copied, ms: Math.round(performance.now() - began) }
}

async function servedVolume({ storage }: Host, volume: Volume): Promise<ServedVolume> {
  const pool = await storage.answering(volume.pool)
  const [disk, sizeBytes] = [await pool.disk(volume), await pool.sizeBytes(volume)]
  if (sizeBytes === undefined) throw new Failure('no_volume', `there is no disk ${disk.path}`)
  return { disk, sizeBytes }
}
