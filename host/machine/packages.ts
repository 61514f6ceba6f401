// Packages of the distribution: what is missing is installed, and the network is asked only then.
import { chmodSync, existsSync, rmSync, writeFileSync } from 'node:fs'
import type { Machine } from './machine.ts'

/** Machines whose lists of packages are new in this process. */
const listsAreNew = new WeakSet<Machine>()

/** Installs what is missing of them. Answers how many were new, for the line of the step. */
export function installPackages(machine: Machine, names: readonly string[]): string {
  const { exec } = machine
  const missing = names.filter((name) => !isInstalled(machine, name))
  if (missing.length === 0) return 'already there'
  if (!listsAreNew.has(machine)) exec.run('apt-get', ['update', '-qq'])
  listsAreNew.add(machine)
  withoutStartingServices(machine, () =>
    exec.run('apt-get', ['install', '-y', '--no-install-recommends', ...missing], {
      env: { DEBIAN_FRONTEND: 'noninteractive' },
    }),
  )
  return `${missing.length} new`
}

export const isInstalled = ({ exec }: Machine, name: string) =>
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a format of dpkg-query
  exec.ask('dpkg-query', ['-W', '-f=${db:Status-Abbrev}', name]).out.startsWith('ii')

const POLICY = '/usr/sbin/policy-rc.d'

/** Packages start their services themselves under systemd; elsewhere the supervisor does, once all is set up. */
function withoutStartingServices({ hasSystemd }: Machine, work: () => void) {
  const isOurs = !hasSystemd && !existsSync(POLICY)
  if (isOurs) {
    writeFileSync(POLICY, '#!/bin/sh\nexit 101\n')
    chmodSync(POLICY, 0o755)
  }
  try {
    work()
  } finally {
    if (isOurs) rmSync(POLICY)
  }
}
