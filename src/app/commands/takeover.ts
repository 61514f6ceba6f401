// `berth takeover`: makes the standby that runs on this host the controller.
import { existsSync } from 'node:fs'
import { CannotStart } from '../../kernel/command-line/startup-errors.ts'
import { databaseOf, installation, isNobodyThere, socketOf } from './data-dir.ts'
import type { TakeoverResponse } from './standby.ts'

const usage = `berth takeover                  makes the standby of this host (berth serve --standby) the controller
berth takeover --even-if-alive  also while the controller still ships: it notices within seconds and stops`

export async function takeover(args: readonly string[]): Promise<number> {
  const isForced = args[0] === '--even-if-alive'
  if (args.includes('--help') || args.includes('-h') || args.length > Number(isForced)) {
    const isHelp = args.includes('--help') || args.includes('-h')
    ;(isHelp ? console.log : console.error)(usage)
    return isHelp ? 0 : 2
  }
  const { dataDir } = installation((dir) => dir)
  const answer = await ask(dataDir, isForced)
  if (!answer.done) throw new CannotStart('takeover_failed', answer.why)
  console.log(
    `This host is the controller now, with every change that was in the replica, up to ${answer.upTo}. It took ` +
      `${answer.seconds} s. Let PANEL_PUBLIC_URL lead here: nodes reconnect by themselves.`,
  )
  return 0
}

async function ask(dataDir: string, isForced: boolean): Promise<TakeoverResponse> {
  try {
    const response = await fetch(`http://localhost/takeover${isForced ? '?force=1' : ''}`, {
      method: 'POST',
      unix: socketOf(dataDir),
    } as RequestInit)
    if (response.ok) return (await response.json()) as TakeoverResponse
    return { done: false, why: 'A controller runs on this host already.' }
  } catch (error) {
    if (!isNobodyThere(error)) throw error
    const isFormer = existsSync(databaseOf(dataDir))
    return {
      done: false,
      why:
        'No standby runs on this host. Start one: berth serve --standby.' +
        (isFormer ? ' The database that is here is kept aside when it takes over.' : ''),
    }
  }
}
