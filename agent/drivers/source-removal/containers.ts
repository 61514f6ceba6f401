// Containers of the panel under Docker. Docker itself, and every other container, is left as it is.
import { find, run } from '../../host/exec.ts'

export type ContainerFound = {
  id: string
  name: string
  image: string
  isRunning: boolean
  /** As `docker update --restart` takes it. */
  restart: string
  /** Docker deletes it when it stops. */
  isDeletedAtEnd: boolean
}

const FORMAT = [
  ...['.Id', '.Name', '.Config.Image', '.State.Running', '.HostConfig.RestartPolicy.Name'],
  ...['.HostConfig.RestartPolicy.MaximumRetryCount', '.HostConfig.AutoRemove'],
]
  .map((field) => `{{${field}}}`)
  .join('\t')
const STOP_SECONDS = 60
const QUIETLY = { limitSeconds: 60, mayFail: true, quietly: true } as const

/** Those whose name or image fits; none where this host has no Docker, or it does not answer. */
export async function containersOf(pattern: RegExp | null): Promise<ContainerFound[]> {
  if (!pattern || !find('docker')) return []
  const ids = (await run('docker', ['ps', '-aq', '--no-trunc'], QUIETLY)).out.split('\n').filter(Boolean)
  if (!ids.length) return []
  const { out } = await run('docker', ['inspect', '--format', FORMAT, ...ids], QUIETLY)
  return out
    .split('\n')
    .filter(Boolean)
    .map((row) => {
      const [id = '', name = '', image = '', running, policy = '', retries, auto] = row.split('\t')
      const restart = policy === 'on-failure' && Number(retries) > 0 ? `on-failure:${retries}` : policy || 'no'
      const isRunning = running === 'true'
      return { id, name: name.replace(/^\//, ''), image, isRunning, restart, isDeletedAtEnd: auto === 'true' }
    })
    .filter(({ name, image }) => pattern.test(name) || pattern.test(image))
}

/** It stops, and does not come back by itself. */
export async function stopContainer({ id, isRunning }: Pick<ContainerFound, 'id' | 'isRunning'>) {
  await run('docker', ['update', '--restart=no', id])
  if (!isRunning) return
  await run('docker', ['stop', '--time', `${STOP_SECONDS}`, id], { limitSeconds: STOP_SECONDS + 60 })
}
export async function restoreContainer({
  id,
  restart,
  isRunning,
}: Pick<ContainerFound, 'id' | 'restart' | 'isRunning'>) {
  await run('docker', ['update', `--restart=${restart}`, id])
  if (isRunning) await run('docker', ['start', id], { limitSeconds: 120 })
}
