// Space on the file systems that an installation fills.
import { existsSync, statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { controllerSettings } from '../controller/settings.ts'
import type { Flags } from '../flags.ts'
import type { Machine } from '../machine/machine.ts'
import { identityFile } from '../machine/paths.ts'
import type { Problem } from './problem.ts'

/** A place, what goes there in words, and its MiB. */
export type Need = { path: string; what: string; mib: number }
/** The free MiB of a path's file system, and a name that paths on the same file system share. */
export type Free = (path: string) => { mib: number; fileSystem: string }

const PROGRAM_MIB = 320
const PACKAGES_OF_NODE_MIB = 1500
const PACKAGES_OF_CONTROLLER_MIB = 100
const DATABASE_MIB = 300
/** An image, and the disk of a small server. */
const FIRST_SERVER_MIB = 2500

/** A machine that is set up already needs space for the new program alone. */
export function needsOf(machine: Machine, flags: Flags): Need[] {
  const { paths } = machine
  const needs: Need[] = [{ path: paths.library, what: 'the program', mib: PROGRAM_MIB }]
  const isNode = flags.mode !== 'controller'
  const isNewNode = isNode && !existsSync(identityFile(paths))
  if (flags.mode !== 'agent') {
    const { dataDir } = controllerSettings(machine, flags)
    if (!existsSync(`${dataDir}/berth.db`))
      needs.push(
        { path: '/usr', what: 'packages for the controller', mib: PACKAGES_OF_CONTROLLER_MIB },
        { path: dataDir, what: 'the database', mib: DATABASE_MIB },
      )
  }
  if (isNewNode) {
    needs.push({ path: '/usr', what: 'packages for a node', mib: PACKAGES_OF_NODE_MIB })
    if (flags.mode === 'all-in-one' && flags.firstGuest)
      needs.push({ path: paths.agentState, what: 'a first server', mib: FIRST_SERVER_MIB })
  }
  return needs
}

/** Of file systems that have less than all that goes there. */
export function spaceProblems(needs: readonly Need[], free: Free = freeOn): Problem[] {
  const found = needs.map((need) => ({ ...need, ...at(need.path, free) }))
  return [...Map.groupBy(found, ({ fileSystem }) => fileSystem).values()].flatMap((all) => {
    const wanted = all.reduce((sum, { mib }) => sum + mib, 0)
    const [{ free: left, path }] = all as [(typeof found)[number]]
    if (left >= wanted) return []
    return [
      {
        problem:
          `${path} has ${left} MiB free, and the installation needs ${wanted} MiB there: ` +
          `${all.map(({ what, mib }) => `${what} (${mib})`).join(', ')}.`,
        remedy: 'Free some, or mount a larger disk there.',
      },
    ]
  })
}

function at(path: string, free: Free) {
  const { mib, fileSystem } = free(path)
  return { free: mib, fileSystem }
}

function freeOn(path: string): ReturnType<Free> {
  let there = path
  while (!existsSync(there)) there = dirname(there)
  const { bavail, bsize } = statfsSync(there)
  return { mib: Math.floor((bavail * bsize) / 2 ** 20), fileSystem: `${statSync(there).dev}` }
}
