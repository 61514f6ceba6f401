// The steps that make a machine a node.
import { localUrl } from '../controller/settings.ts'
import type { Flags } from '../flags.ts'
import type { Machine } from '../machine/machine.ts'
import { installPackages } from '../machine/packages.ts'
import { agentEnv, controllerAuthority, identityFile, usedToken } from '../machine/paths.ts'
import { installService, runService, setDropIn } from '../services/install-service.ts'
import { type Enrolment, enrol } from './enrol.ts'
import { runsInstances } from './identity.ts'
import { prepareForInstances } from './instances.ts'
import { startLibvirt } from './libvirt.ts'
import { type GuestNetwork, makeNetwork } from './network.ts'
import { nodePackages } from './packages.ts'

/** `listen`: of the controller on the same machine, which this node then joins. */
export async function installNode(machine: Machine, flags: Flags, listen?: string): Promise<GuestNetwork> {
  const { hasSystemd, paths, report } = machine
  await report.step('Packages for a node', () => installPackages(machine, nodePackages(machine)))
  const withCards = runsInstances(paths, flags.gpu)
  if (withCards) await report.step('Container instances with cards', () => prepareForInstances(machine, flags))
  let network: GuestNetwork | undefined
  await report.step('Network of the guests', () => (network = makeNetwork(machine, flags)).note)
  await report.step('libvirt', () => startLibvirt(machine))
  const controllerUrl = listen === undefined ? flags.controllerUrl : localUrl(listen)
  const { mode, token, name, ca, pin, uplink, vlans } = flags
  const enrolment = { mode, token, name, ca, pin, uplink, vlans, bridge: network!.bridge, controllerUrl } as Enrolment
  await report.step('Enrolment', () => enrol(machine, enrolment))
  await report.step('Service berth-agent', () => {
    installService(machine, 'berth-agent', `${flags.source}/docs`)
    if (hasSystemd) setDropIn(machine, 'gpu', withCards)
    return runService(
      machine,
      'berth-agent',
      ...[agentEnv(paths), controllerAuthority(paths), identityFile(paths), usedToken(paths)],
    )
  })
  return network!
}
