// Container instances with graphics cards need more than a node of virtual servers: packages, an engine, a proxy.
import { existsSync, readdirSync } from 'node:fs'
import { isPackagedPage } from '../controller/caddy.ts'
import type { Flags } from '../flags.ts'
import { type Machine, makeDirectory, place, textOf } from '../machine/machine.ts'
import { installPackages } from '../machine/packages.ts'
import { gpuMark } from '../machine/paths.ts'
import { installService, installUnit, runService } from '../services/install-service.ts'
import { instancePackages } from './packages.ts'

/**
 * The driver and the container toolkit of NVIDIA are the operator's: which ones suit depends on the cards. Answers what
 * was installed and what is missing.
 */
export async function prepareForInstances(machine: Machine, flags: Flags): Promise<string> {
  const { exec, hasSystemd, paths } = machine
  const notes = [installPackages(machine, instancePackages)]
  makeDirectory('/etc/cdi')
  place(machine, gpuMark(paths), 0o644, 'This node runs container instances with cards: install.sh --gpu.\n')
  notes.push(...(await prepareHttpNames(machine, flags)))
  // Without systemd the agent starts the engine itself.
  if (hasSystemd) {
    installUnit(machine, 'berth-containers', `${flags.source}/docs`)
    exec.run('systemctl', ['start', '--no-block', 'berth-containers'])
  }
  if (!hasCards()) notes.push('no NVIDIA card is seen on this machine')
  else if (!existsSync('/proc/driver/nvidia/version') || !Bun.which('nvidia-ctk'))
    notes.push("NVIDIA's driver or its container toolkit is missing: docs/gpu.md")
  return notes.join('; ')
}

/**
 * A Caddy that serves something else here has ports 80 and 443, and keeps them. One that the package just began serves
 * a page of its own.
 */
async function prepareHttpNames(machine: Machine, flags: Flags): Promise<string[]> {
  const { exec, hasSystemd, paths } = machine
  const hadCaddy = existsSync('/usr/bin/caddy')
  installPackages(machine, ['caddy'])
  if (existsSync(paths.caddySite) || flags.domain !== undefined || !isPackagedPage(machine))
    return ['no names for HTTP ports of instances, because Caddy serves other sites here']
  if (hasSystemd && (!hadCaddy || exec.try('systemctl', ['is-active', '--quiet', 'caddy']) === 0))
    exec.run('systemctl', ['disable', '--now', '--quiet', 'caddy'])
  const dir = `${paths.agentState}/http-names`
  if (!existsSync(`${dir}/caddy.json`)) {
    makeDirectory(dir, 0o700)
    const admin = { listen: 'unix//run/berth-http-proxy/admin.sock', config: { persist: false } }
    place(machine, `${dir}/caddy.json`, 0o644, `${JSON.stringify({ admin })}\n`)
  }
  installService(machine, 'berth-http-proxy', `${flags.source}/docs`)
  if (hasSystemd) exec.run('systemctl', ['start', '--no-block', 'berth-http-proxy'])
  else await runService(machine, 'berth-http-proxy')
  return []
}

const devices = '/sys/bus/pci/devices'
const hasCards = () =>
  existsSync(devices) && readdirSync(devices).some((name) => textOf(`${devices}/${name}/vendor`)?.trim() === '0x10de')
