// The guests of Berth that are defined on this machine, known by their names, which are ids.
import { existsSync } from 'node:fs'
import type { Machine } from '../machine/machine.ts'

const CONNECTION = ['-c', 'qemu:///system']
const SERVER = /^srv_[0-9a-z]{26}$/
const INSTANCE = /^[a-z]{2,8}_[0-9a-z]{26}$/

const linesOf = (text: string, rule: RegExp) => text.split('\n').filter((line) => rule.test(line))

const serversOf = ({ exec }: Machine) =>
  linesOf(exec.ask('virsh', [...CONNECTION, 'list', '--all', '--name']).out, SERVER)

/** Container instances are in a storage of their own. */
const instancesOf = (machine: Machine) =>
  existsSync(`${containersOf(machine)}/containers.conf`)
    ? linesOf(machine.exec.ask('podman', ['ps', '--all', '--format', '{{.Names}}'], storageOf(machine)).out, INSTANCE)
    : []

const containersOf = ({ paths }: Machine) => `${paths.agentState}/containers`
const storageOf = (machine: Machine) => {
  const dir = containersOf(machine)
  return {
    env: {
      CONTAINERS_CONF: `${dir}/containers.conf`,
      CONTAINERS_STORAGE_CONF: `${dir}/storage.conf`,
      CONTAINERS_REGISTRIES_CONF: `${dir}/registries.conf`,
    },
  }
}

export const guestsOf = (machine: Machine) => [...serversOf(machine), ...instancesOf(machine)]

/** Stops and deletes them. Their disks go with the agent's data. */
export function deleteGuests(machine: Machine) {
  const { exec } = machine
  if (instancesOf(machine).length) {
    exec.run('podman', ['rm', '--all', '--force', '--volumes'], storageOf(machine))
    exec.run('podman', ['network', 'prune', '--force'], storageOf(machine))
  }
  for (const server of serversOf(machine)) {
    exec.try('virsh', [...CONNECTION, 'destroy', server])
    exec.run('virsh', [
      ...[...CONNECTION, 'undefine', '--managed-save', '--snapshots-metadata', '--checkpoints-metadata', '--nvram'],
      server,
    ])
  }
}
