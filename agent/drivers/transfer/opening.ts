// Transfers that are open over a start of the agent.

import { wordsOf } from '../../failure.ts'
import type { Host } from '../../host/host.ts'
import { log } from '../../log.ts'
import type { Input } from '../../protocol/wire.ts'
import type { Listening } from './transfer.ts'

/** The disks that are brought here. Those that both nodes reach stay where they are. */
export const brought = ({ disks }: Pick<Input<'transfer.receive'>, 'disks'>) =>
  disks.filter(({ shared }) => shared === undefined)

/** Opens a transfer to this node: its disks are served, and its key is let in. */
export async function openTransfer(host: Host, input: Input<'transfer.receive'>): Promise<Listening> {
  const { transfer, workload, publicKey, from, by, expiresAt: until } = input
  const disks = await Promise.all(
    brought(input).map(async ({ volume, sizeBytes }) => ({
      disk: await (await host.storage.answering(volume.pool)).disk(volume),
      sizeBytes,
    })),
  )
  if (input.firmware && by === 'copy') disks.push(await host.firmwareStates.expect(transfer))
  await host.migration.expect(input)
  return host.transfers.receive({ transfer, workload, publicKey, from, disks, by, until })
}

/**
 * Ends what a killed agent left, and opens the transfers to this node again that are not over: their sources try for a
 * while to go on. One whose vm has its disks open by now is left alone.
 */
export async function reopenTransfers(host: Host, now: number) {
  try {
    await host.transfers.sweep()
  } catch (error) {
    log('error', 'what transfers have left on this host cannot be ended', { error: wordsOf(error) })
  }
  const known = host.state.transfers()
  for (const { transfer, receive, owns, workload } of known) {
    if (!receive || owns || receive.expiresAt <= now) continue
    try {
      if ((await host.hypervisor.power(workload)) === 'paused') continue
      await openTransfer(host, receive)
      // It was ended meanwhile.
      if (!host.state.transfer(transfer)) await host.transfers.end(transfer)
    } catch (error) {
      log('error', 'a transfer to this node cannot go on', { transfer, error: wordsOf(error) })
    }
  }
}
