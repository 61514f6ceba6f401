// The commands of the executable. Each loads only what it needs: an agent never opens the controller's database.
import { journalPriority } from '../agent/protocol/systemd.ts'
import { VERSION } from './kernel/version.ts'

const usage = `Berth ${VERSION}: virtual servers and GPU instances, for hosting companies

  berth serve                 run the controller (settings: berth serve --help)
  berth agent …               run, enroll or examine a node (berth agent --help)
  berth admin …               do any API operation on this host, as System (berth admin --help)
  berth backup create FILE    copy the database to FILE while the controller runs
  berth backup restore FILE   put such a copy in place while the controller is stopped
  berth restore …             restore the database from its replica, at any time (berth restore --help)
  berth serve --standby       follow the replica of another controller, to take over from it
  berth takeover              make the standby of this host the controller
  berth backup-server …       an append-only place for backups of servers (berth backup-server --help)
  berth host …                prepare this machine, and keep its services without systemd (berth host --help)
  berth secrets …             the keys of the secrets in the database: rotate, list, drop (berth secrets --help)
  berth search …              compare the index of searches with what there is, or make it anew (--help)
  berth upgrade FILE|ADDRESS  bring the controller to a signed release (berth upgrade --help)
  berth release …             make, sign and verify releases (berth release --help)
  berth version [--json]      print the version; with --json also protocol, schema and platform
  berth licences              print the licences of Berth and of all that it carries
`

async function run(args: readonly string[]): Promise<number> {
  const [command, ...rest] = args
  const asksForHelp = rest.includes('--help') || rest.includes('-h')
  switch (command) {
    case 'serve': {
      if (asksForHelp) {
        const { settings } = await import('./app/config.ts')
        console.log(
          'berth serve runs the controller until SIGTERM; with --standby it follows the replica of another one until ' +
            'berth takeover. Settings come from the environment:\n',
        )
        for (const [name, words] of Object.entries(settings)) console.log(`  ${name.padEnd(28)} ${words}`)
        return 0
      }
      const asStandby = rest[0] === '--standby'
      if (rest.length > Number(asStandby))
        return wrongUse('berth serve takes no arguments but --standby; its settings come from the environment.')
      return (await import('./app/commands/serve.ts')).serve({ asStandby })
    }
    case 'takeover':
      return (await import('./app/commands/takeover.ts')).takeover(rest)
    case 'restore':
      return (await import('./app/commands/restore.ts')).restore(rest)
    case 'agent': {
      // Every connection of a move waits for its start, so it loads nothing else.
      const { TRANSFER_STREAM, transferStream } = await import('../agent/drivers/transfer/ssh/stream.ts')
      if (rest[0] === TRANSFER_STREAM) return transferStream(rest.slice(1))
      return (await import('../agent/main.ts')).agentCommand([...rest])
    }
    case 'admin':
      return (await import('./app/commands/admin.ts')).admin(rest)
    case 'backup':
      return (await import('./app/commands/backup.ts')).backup(rest)
    case 'host':
      return (await import('../host/main.ts')).hostCommand(rest)
    case 'upgrade':
      return (await import('../host/upgrade/command.ts')).upgradeCommand(rest)
    case 'backup-server':
      return (await import('../backup-server/command.ts')).backupServerCommand(rest)
    case 'secrets':
      return (await import('./app/commands/secrets.ts')).secrets(rest)
    case 'search':
      return (await import('./app/search-index.ts')).search(rest)
    case 'licences':
      return (await import('./app/commands/licences.ts')).licences(rest)
    case 'release':
      return (await import('./app/commands/release.ts')).release(rest)
    case 'version':
    case '--version':
      if (rest[0] === '--json') console.log(JSON.stringify((await import('./app/release/described.ts')).described()))
      else console.log(VERSION)
      return 0
    case 'help':
    case '--help':
    case '-h':
      console.log(usage)
      return 0
    default:
      return wrongUse(command === undefined ? usage : `There is no command "${command}".\n\n${usage}`)
  }
}

function wrongUse(words: string): number {
  console.error(words)
  return 2
}

/** Expected ends have words and an exit code; anything else is ours to mend, and its trace is what we need for that. */
async function refused(error: unknown): Promise<number> {
  const end = (await import('./app/commands/startup-errors.ts')).endOf(error)
  if (!end) throw error
  console.error(journalPriority('error') + end.words)
  return end.exit
}

if (Bun.isMainThread) {
  // Files that the program makes are readable by its user alone: the database holds password hashes, a backup all data.
  process.umask(0o077)
  process.exit(await run(process.argv.slice(2)).catch(refused))
} else (await import('./app/reader-thread.ts')).readerThread(process.argv[2]!)
