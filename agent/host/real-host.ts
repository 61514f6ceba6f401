// The real host with its drivers.
import { join } from 'node:path'
import { signedHeaders } from '../controller-link/controller.ts'
import type { Identity } from '../controller-link/identity.ts'
import { trusting } from '../controller-link/pinning.ts'
import { Nftables } from '../drivers/firewall/nftables.ts'
import { probe, type Virtualisation } from '../drivers/hypervisor/kvm-probe.ts'
import { Libvirt } from '../drivers/hypervisor/libvirt.ts'
import { DownloadedImages } from '../drivers/images/download.ts'
import { Bridges } from '../drivers/network/bridge.ts'
import { IsoSeeds } from '../drivers/seed/iso.ts'
import { FilePool } from '../drivers/storage/file.ts'
import { Storage } from '../drivers/storage/storage.ts'
import { NftCounters } from '../drivers/traffic/nftables.ts'
import { Failure } from '../failure.ts'
import { openState } from '../state.ts'
import { makePassage } from './directories.ts'
import { bootIdOfHost, factsOfHost, loadMeter, machineIdOfHost, oomKillsOfHost } from './facts.ts'
import type { Host } from './host.ts'
import { Metering } from './metering.ts'
import { PortSecurity } from './port-security.ts'

export const POOL = 'local'
export const poolRoot = (dataDir: string) => join(dataDir, 'pools', POOL)

/**
 * Opens the real host with its data in `dataDir`. Without an identity, before enrolment, it cannot download from the
 * controller.
 */
export function openRealHost(dataDir: string, identity?: Identity): Host {
  let found: Promise<Virtualisation> | undefined
  const virtualisation = () => {
    found ??= probe(dataDir, bootIdOfHost())
    return found
  }
  makePassage(join(dataDir, 'pools'))
  const state = openState(join(dataDir, 'state.db'))
  const metering = new Metering(join(dataDir, 'traffic.db'), new NftCounters(), state)
  return {
    state,
    oomKills: oomKillsOfHost,
    hypervisor: new Libvirt(async () => accelerationOf(await virtualisation())),
    storage: new Storage([new FilePool(POOL, poolRoot(dataDir))]),
    network: new Bridges(),
    portSecurity: new PortSecurity(new Nftables(), state),
    seeds: new IsoSeeds(join(dataDir, 'seeds')),
    metering,
    images: new DownloadedImages(join(dataDir, 'images'), (path) => fromController(identity, path)),
    facts: () => factsOfHost(virtualisation),
    machineId: machineIdOfHost,
    load: loadMeter(),
    withFaults: (_name, _server, work) => work(),
    close: () => {
      metering.close()
      state.close()
    },
  }
}

function accelerationOf({ kind, reason }: Virtualisation) {
  if (kind === 'none') throw new Failure('no_virtualisation', reason)
  return kind
}

async function fromController(identity: Identity | undefined, path: string) {
  if (!identity) throw new Failure('not_enrolled', 'this host has no controller yet')
  return { url: identity.controller + path, headers: await signedHeaders(identity), ...trusting(identity.pins) }
}
