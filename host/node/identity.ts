// Is this machine a node, and of which controller?
import { existsSync, readFileSync } from 'node:fs'
import { localUrl } from '../controller/settings.ts'
import { setting, textOf } from '../machine/machine.ts'
import { controllerEnv, gpuMark, identityFile, type Paths } from '../machine/paths.ts'

export type Identity = { controller: string; nodeId: string; name: string; bridge?: string; pins?: string[] }

/** Undefined where this machine is no node yet. */
export function identityOf(paths: Paths): Identity | undefined {
  return existsSync(identityFile(paths)) ? JSON.parse(readFileSync(identityFile(paths), 'utf8')) : undefined
}

/**
 * The node of an all-in-one machine speaks to its controller over a loopback address or the one that it listens on. The
 * panel prints its public address: both are the same controller.
 */
export function isOwnController(paths: Paths, url: string): boolean {
  const env = controllerEnv(paths)
  const listen = setting(env, 'PANEL_LISTEN')
  return listen !== '' && (url === setting(env, 'PANEL_PUBLIC_URL') || url === localUrl(listen))
}

/** Do both addresses lead to the controller that this node has? */
export const isSameController = (paths: Paths, { controller }: Identity, url: string) =>
  url === controller || (isOwnController(paths, url) && isOwnController(paths, controller))

/** Said with --gpu, at this run or an earlier one. */
export const runsInstances = (paths: Paths, gpu: boolean) => gpu || textOf(gpuMark(paths)) !== undefined
