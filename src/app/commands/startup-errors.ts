// Why a command cannot do its work on this machine. Expected things are said in words with what to do next, never as a
// stack trace.
import { statSync } from 'node:fs'
import { CannotStart, SettingError, userName, whoAmI } from '../../kernel/command-line/startup-errors.ts'
import { KeyFileError } from '../../kernel/crypto/key-ring.ts'
import { DatabaseMissing, NotOurDatabase } from '../../kernel/db/migrate.ts'
import type { Config } from '../config.ts'

/** A service manager must not start it again: that would not help. */
export const TAKEN_OVER = 'taken_over'

/** The words and the exit code for an expected error; undefined for a fault of the program itself. */
export function endOf(error: unknown): { words: string; exit: 1 | 2 } | undefined {
  if (error instanceof SettingError) return { words: error.message, exit: 2 }
  if (error instanceof CannotStart)
    return { words: `${error.code}: ${error.message}`, exit: error.code === TAKEN_OVER ? 2 : 1 }
  if (error instanceof KeyFileError) return { words: `key_file_not_usable: ${error.message}`, exit: 1 }
  if (error instanceof NotOurDatabase) return { words: `database_not_ours: ${error.message}`, exit: 1 }
  if (error instanceof DatabaseMissing) return { words: `database_missing: ${error.message}`, exit: 1 }
  return undefined
}

/** An error of the operating system or of SQLite about the data directory, in words; others as they are. */
export function aboutData(error: unknown, dataDir: string): unknown {
  const code = (error as { code?: string }).code ?? ''
  if (/^SQLITE_(NOTADB|CORRUPT)/.test(code))
    return new CannotStart(
      'database_damaged',
      `${dataDir}/berth.db is damaged (${code}). Keep a copy of it, and restore a backup: sudo berth backup ` +
        'restore FILE.',
    )
  if (/^SQLITE_(BUSY|LOCKED)/.test(code))
    return new CannotStart(
      'database_busy',
      `Another program holds ${dataDir}/berth.db for longer than a change takes. End it and try again.`,
    )
  if (/^SQLITE_FULL|^ENOSPC/.test(code))
    return new CannotStart('disk_full', `The disk of ${dataDir} is full. Make room on it and start again.`)
  if (/^(SQLITE_(CANTOPEN|READONLY|PERM|IOERR)|EACCES|EPERM|EROFS|ENOTDIR|EISDIR|ENOENT)/.test(code))
    return notUsable(dataDir, code)
  return error
}

/** Names the owner of the directory and the user who asks: nearly always one of them is the cause. */
export function notUsable(dataDir: string, code: string): CannotStart {
  const username = whoAmI()
  const owner = ownerOf(dataDir)
  return new CannotStart(
    'data_dir_not_usable',
    `The user ${username} cannot work in ${dataDir} (${code}). ` +
      (owner === undefined
        ? `Run this as root (sudo berth …), or set PANEL_DATA_DIR to a directory of ${username}'s own.`
        : owner === username
          ? 'It is theirs: look at its permissions, at those of the files in it, and whether its disk can be ' +
            'written to.'
          : `It belongs to ${owner}: run this as root (sudo berth …) or as ${owner}.`),
  )
}

/** Undefined where it is not there, or not for us to see. */
function ownerOf(path: string): string | undefined {
  try {
    return userName(statSync(path).uid)
  } catch {
    return undefined
  }
}

/**
 * Why the listener cannot take its address. A taken port may come free; an address of another machine or a forbidden
 * port is a wrong setting.
 */
export function aboutListening(error: unknown, { listen: { hostname, port } }: Config): unknown {
  const there = `${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`
  switch ((error as { code?: string }).code) {
    case 'EADDRINUSE':
      return new CannotStart(
        'port_taken',
        `Another program listens on ${there} already; ss -ltnp 'sport = :${port}' names it. Stop it, or set ` +
          'PANEL_LISTEN to another port.',
      )
    case 'EADDRNOTAVAIL':
      return new SettingError(
        `PANEL_LISTEN: ${there} is not an address of this machine. Take one that \`ip address\` shows, or ` +
          `0.0.0.0:${port} for all.`,
      )
    case 'EACCES':
      return new SettingError(
        `PANEL_LISTEN: the user ${whoAmI()} may not listen on port ${port}. Take one from 1024 on with a proxy ` +
          'in front, ' +
          `or run ./install.sh --controller --listen ${there}, which gives the service that right.`,
      )
    default:
      return error
  }
}
