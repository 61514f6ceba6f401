// The real host with its drivers.
import { join } from 'node:path'
import ipaddr from 'ipaddr.js'
import { download } from '../controller-link/controller.ts'
import { type Identity, uplinkIn } from '../controller-link/identity.ts'
import { HostAccess } from '../drivers/access/host-access.ts'
import { BackupRuns } from '../drivers/backup/backup-runs.ts'
import { ResticFiles } from '../drivers/backup/files.ts'
import { Restic } from '../drivers/backup/restic.ts'
import { LibvirtConsoles } from '../drivers/console/libvirt.ts'
import { PodmanContainers } from '../drivers/container/podman/podman.ts'
import { MINIMUM, OLDER } from '../drivers/container/podman/requirements.ts'
import { Nftables } from '../drivers/firewall/nftables.ts'
import { NvidiaGpus } from '../drivers/gpu/nvidia.ts'
import { LibvirtGuestAgent } from '../drivers/guest-agent/libvirt.ts'
import { CaddyHttpNames, caddyOfHost } from '../drivers/http-names/caddy.ts'
import { FirmwareFiles } from '../drivers/hypervisor/firmware-state.ts'
import { probe, type Virtualisation } from '../drivers/hypervisor/kvm-probe.ts'
import { Libvirt } from '../drivers/hypervisor/libvirt.ts'
import { DownloadedImages, type FromController } from '../drivers/images/download.ts'
import { LibvirtMigration } from '../drivers/migration/libvirt.ts'
import { Bridges } from '../drivers/network/bridge.ts'
import { Vxlans } from '../drivers/private-network/vxlan.ts'
import { IsoSeeds } from '../drivers/seed/iso.ts'
import { OwnAdoptions } from '../drivers/source-host/own-adoptions.ts'
import { SshSourceCopies } from '../drivers/source-host/ssh-source-copies.ts'
import { SshSourceHosts } from '../drivers/source-host/ssh-source-hosts.ts'
import { SshSourceServers } from '../drivers/source-host/ssh-source-servers.ts'
import { HostSourceRemovals, ownFolders } from '../drivers/source-removal/host-removals.ts'
import { openPools, poolsFile } from '../drivers/storage/pools-file.ts'
import { Storage } from '../drivers/storage/storage.ts'
import { NftCounters } from '../drivers/traffic/nftables.ts'
import { SshTransfers } from '../drivers/transfer/ssh/ssh-transfers.ts'
import { LinuxVlans } from '../drivers/vlan/linux.ts'
import { Ext4Workspaces } from '../drivers/workspace/ext4.ts'
import { Failure } from '../failure.ts'
import { log } from '../log.ts'
import { decrypting } from '../protocol/for-node.ts'
import { openState } from '../state.ts'
import { makePassage } from './directories.ts'
import {
  bootIdOfHost,
  factsOfHost,
  gpuFacts,
  loadMeter,
  machineIdOfHost,
  oomKillsOfHost,
  uplinkFacts,
} from './facts.ts'
import { type Host, SILENT_AFTER_MS } from './host.ts'
import { Metering } from './metering.ts'
import { countersOfHost } from './metrics/counters.ts'
import { Routing } from './network/routing.ts'
import { VlanNetworking } from './network/vlan-networking.ts'
import { PortSecurity } from './port-security.ts'
import { PrivateNetworking } from './private-networking.ts'

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
  const serialDir = join(dataDir, 'serial')
  const state = openState(join(dataDir, 'state.db'))
  const metering = new Metering(join(dataDir, 'traffic.db'), new NftCounters(), state)
  const hypervisor = new Libvirt(async () => accelerationOf(await virtualisation()), serialDir)
  const guestAgent = new LibvirtGuestAgent()
  const network = new Bridges()
  const portSecurity = new PortSecurity(
    new Nftables(state, hostPortsFrom(process.env['PANEL_AGENT_HOST_PORTS'])),
    state,
  )
  const vlans = new VlanNetworking(new LinuxVlans(), state, () => uplinkIn(dataDir))
  const transfers = new SshTransfers(() => state.transfers().map(({ transfer }) => transfer))
  const sourceHosts = new SshSourceHosts(join(dataDir, 'source-hosts'))
  const sourceServers = new SshSourceServers(sourceHosts)
  const storage = new Storage(openPools(dataDir), SILENT_AFTER_MS)
  const backups = new Restic(dataDir)
  const backupFiles = new ResticFiles(backups)
  const backupRuns = new BackupRuns(
    { hypervisor, guestAgent, state, storage, backups },
    makePassage(join(dataDir, 'backups')),
  )
  const access = new HostAccess(dataDir)
  const httpNames = new CaddyHttpNames(caddyOfHost(dataDir))
  const workspaces = new Ext4Workspaces(storage.pools, undefined, storage.isHanging)
  const gpus = new NvidiaGpus({ dataDir, bootId: bootIdOfHost() })
  const sources = {
    controller: identity?.controller,
    allowed: cidrsIn(process.env['PANEL_AGENT_LOCAL_SOURCES']),
  }
  const containers = new PodmanContainers({
    dir: join(dataDir, 'containers'),
    runDir: '/run/berth/containers',
    minimum: minimumFrom(process.env['PANEL_AGENT_OLDER_ENGINE']),
    localRegistries: listIn(process.env['PANEL_AGENT_LOCAL_REGISTRIES']),
    troublesSince: gpus.troublesSince,
    controller: identity?.controller,
  })
  return {
    state,
    transfers,
    sourceHosts,
    sourceServers,
    sourceCopies: new SshSourceCopies(sourceServers, join(dataDir, 'source-copies')),
    sourceRemovals: new HostSourceRemovals({
      dir: join(dataDir, 'source-removals'),
      protectedPaths: () => ownFolders(dataDir, poolsFile(dataDir)),
    }),
    adoptions: new OwnAdoptions(sourceServers, join(dataDir, 'adoptions')),
    firmwareStates: new FirmwareFiles(join(dataDir, 'firmware')),
    migration: new LibvirtMigration({ hypervisor, network, portSecurity, state }, transfers),
    access,
    httpNames,
    containers,
    workspaces,
    gpus,
    oomKills: oomKillsOfHost,
    hypervisor,
    consoles: new LibvirtConsoles(serialDir),
    guestAgent,
    storage,
    network,
    routing: new Routing(network, state),
    vlans,
    portSecurity,
    privateNetworking: new PrivateNetworking(new Vxlans(), state, { hypervisor, guestAgent }),
    seeds: new IsoSeeds(join(dataDir, 'seeds')),
    backups,
    backupRuns,
    backupFiles,
    metering,
    images: new DownloadedImages(join(dataDir, 'images'), fromController(identity), sources),
    isos: new DownloadedImages(makePassage(join(dataDir, 'isos')), fromController(identity), sources),
    facts: async () => ({
      ...(await factsOfHost(virtualisation, identity?.controller)),
      ...(await uplinkFacts(vlans)),
      ...(await gpuFacts({ access, containers, gpus, workspaces })),
    }),
    decrypt: decrypting(identity?.key),
    silentAfterMs: SILENT_AFTER_MS,
    machineId: machineIdOfHost,
    load: loadMeter(),
    hostCounters: countersOfHost,
    withFaults: (_name, _server, work) => work(),
    close: () => {
      containers.close()
      gpus.close()
      backupFiles.close()
      metering.close()
      state.close()
    },
  }
}

function accelerationOf({ kind, reason }: Virtualisation) {
  if (kind === 'none') throw new Failure('no_virtualisation', reason)
  return kind
}

/** `PANEL_AGENT_OLDER_ENGINE=1`, for a lab alone. */
function minimumFrom(setting: string | undefined) {
  if (setting !== '1') return MINIMUM
  log('warning', 'an older container engine is allowed by PANEL_AGENT_OLDER_ENGINE: run no instance of a stranger here')
  return OLDER
}

/** The words of a list such as `registry.lan:5000,10.0.0.5:5000`. */
const listIn = (text = '') => text.split(',').flatMap((word) => word.trim() || [])

/** CIDRs from `PANEL_AGENT_LOCAL_SOURCES`, such as `10.0.5.0/24`; what is none is left out. */
function cidrsIn(text: string | undefined): string[] {
  const words = listIn(text)
  for (const word of words.filter((one) => !ipaddr.isValidCIDR(one)))
    log('warning', `PANEL_AGENT_LOCAL_SOURCES: ${word} is no CIDR and is left out`)
  return words.filter((word) => ipaddr.isValidCIDR(word))
}

/** Ports from `PANEL_AGENT_HOST_PORTS`, such as `80,443`; what is no port is left out. */
function hostPortsFrom(text = ''): number[] {
  const ports = listIn(text).map(Number)
  return ports.filter((port) => Number.isInteger(port) && port > 0 && port < 65_536)
}

const fromController =
  (identity: Identity | undefined): FromController =>
  (path, signal) => {
    if (!identity) throw new Failure('not_enrolled', 'this host has no controller yet')
    return download(identity, path, signal)
  }
