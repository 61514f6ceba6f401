// A disk that loses its power: what a program did with files, and how much of it may be there afterwards.
import { createHash } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { FileOperation } from './recorded.ts'

type Content = { data: Buffer; mode: number }
/** A file has one, whatever names it has. `flushed`: as far as it is on the disk. Buffers never change. */
type Inode = Content & { flushed: Content }
type Names = Map<string, Inode | 'directory'>

/** Names and contents that were not flushed are on the disk when the power goes, or are not. */
export const losses = {
  nothing: { names: true, contents: true },
  'contents that were not flushed': { names: true, contents: false },
  'names that were not flushed': { names: false, contents: true },
  'all that was not flushed': { names: false, contents: false },
} as const
export type Loss = keyof typeof losses

/** The files after a loss of power, by path. */
export type Image = { id: string; files: Map<string, { inode: Inode; data: Buffer; mode: number } | 'directory'> }

const ids = new WeakMap<Buffer, string>()
function idOf(data: Buffer): string {
  const known = ids.get(data)
  if (known !== undefined) return known
  const made = createHash('sha1').update(data).digest('hex')
  ids.set(data, made)
  return made
}

export class Disk {
  private names: Names = new Map()
  private flushedNames: Names
  /** Of folders, by their names now: what was in each when it was flushed. */
  private readonly flushedIn = new Map<string, [name: string, inode: Inode | 'directory'][]>()
  /** Of descriptors. */
  private readonly positions = new Map<string, number>()

  /** `folders`: paths there, whose content lies below `root` here; all of it is on the disk. */
  constructor(
    private readonly root: string,
    private readonly folders: readonly string[],
    private readonly leftOut: (path: string) => boolean,
  ) {
    for (const folder of folders) this.read(folder, new Map())
    this.flushedNames = new Map(this.names)
  }

  private read(path: string, seen: Map<number, Inode>) {
    const at = join(this.root, path)
    const found = lstatSync(at)
    if (found.isDirectory()) {
      this.names.set(path, 'directory')
      for (const name of readdirSync(at)) this.read(join(path, name), seen)
    } else if (found.isFile() && !this.leftOut(path)) {
      const known = seen.get(found.ino)
      const content = { data: known?.data ?? readFileSync(at), mode: found.mode & 0o7777 }
      const inode = known ?? { ...content, flushed: content }
      seen.set(found.ino, inode)
      this.names.set(path, inode)
    }
  }

  private isHere = (path: string) =>
    this.folders.some((folder) => path.startsWith(`${folder}/`) || path === folder) && !this.leftOut(path)

  /** Does it. Answers whether it concerns this disk. */
  apply(operation: FileOperation): boolean {
    const { path } = operation
    if (!this.isHere(path)) return false
    const inode = this.names.get(path)
    const file = inode === 'directory' ? undefined : inode
    switch (operation.is) {
      case 'open': {
        this.positions.set(operation.file, operation.appends ? (file?.data.length ?? 0) : 0)
        if (!file && operation.creates) this.names.set(path, fresh(operation.mode))
        else if (file && operation.truncates) file.data = Buffer.alloc(0)
        return (!file && operation.creates) || operation.truncates
      }
      case 'write': {
        if (!file) return false
        const at = operation.at ?? this.positions.get(operation.file) ?? 0
        file.data = written(file.data, operation.bytes, at)
        if (operation.at === undefined) this.positions.set(operation.file, at + operation.bytes.length)
        return true
      }
      case 'copy': {
        const from = this.names.get(operation.from)
        if (!file || !from || from === 'directory') throw new Error(`nothing is known of ${operation.from}`)
        const done = file.data.length
        file.data = written(file.data, from.data.subarray(done, done + operation.sizeBytes), done)
        return true
      }
      case 'size':
        if (file) file.data = written(file.data.subarray(0, operation.sizeBytes), Buffer.alloc(0), operation.sizeBytes)
        return true
      case 'mode':
        if (file) file.mode = operation.mode
        return file !== undefined
      case 'flush':
        if (inode === 'directory') this.flushNames(path)
        else if (file) file.flushed = { data: file.data, mode: file.mode }
        return true
      case 'rename':
        this.rename(path, operation.to)
        return true
      case 'link':
        this.names.set(operation.to, file ?? fresh(0))
        return true
      case 'remove':
        return this.names.delete(path)
      case 'directory':
        this.names.set(path, 'directory')
        return true
    }
  }

  private rename(from: string, to: string) {
    const isBelow = (folder: string) => (path: string) => path === folder || path.startsWith(`${folder}/`)
    for (const path of [...this.names.keys()].filter(isBelow(to))) this.names.delete(path)
    for (const path of [...this.names.keys()].filter(isBelow(from))) {
      this.names.set(to + path.slice(from.length), this.names.get(path)!)
      this.names.delete(path)
    }
    const flushed = this.flushedIn.get(from)
    this.flushedIn.delete(from)
    if (flushed) this.flushedIn.set(to, flushed)
  }

  /** Puts the names in one folder on the disk, and with a folder among them what was flushed in that one before. */
  private flushNames(folder: string) {
    const inside = (names: Iterable<string>) => [...names].filter((path) => dirname(path) === folder)
    for (const path of inside(this.flushedNames.keys()))
      if (!this.names.has(path))
        for (const each of [...this.flushedNames.keys()])
          if (each === path || each.startsWith(`${path}/`)) this.flushedNames.delete(each)
    const now = inside(this.names.keys())
    for (const path of now) {
      this.flushedNames.set(path, this.names.get(path)!)
      for (const [name, inode] of this.flushedIn.get(path) ?? []) this.flushedNames.set(join(path, name), inode)
    }
    this.flushedIn.set(
      folder,
      now.map((path) => [basename(path), this.names.get(path)!]),
    )
  }

  after(loss: Loss): Image {
    const { names, contents } = losses[loss]
    const files: Image['files'] = new Map()
    const all = names ? this.names : this.flushedNames
    for (const [path, inode] of all) {
      if (inode === 'directory') files.set(path, inode)
      else {
        const { data, mode } = contents ? inode : inode.flushed
        files.set(path, { inode, data, mode })
      }
    }
    // A name in a folder that has none is lost.
    for (const path of [...files.keys()].sort())
      if (!this.folders.includes(path) && files.get(dirname(path)) !== 'directory') files.delete(path)
    const hash = createHash('sha1')
    for (const path of [...files.keys()].sort()) {
      const file = files.get(path)!
      hash.update(`${path} ${file === 'directory' ? '' : `${idOf(file.data)} ${file.mode}`}\n`)
    }
    return { id: hash.digest('hex'), files }
  }
}

function fresh(mode: number): Inode {
  const empty = Buffer.alloc(0)
  return { data: empty, mode, flushed: { data: empty, mode } }
}

function written(before: Buffer, bytes: Buffer, at: number): Buffer {
  const made = Buffer.alloc(Math.max(before.length, at + bytes.length))
  before.copy(made)
  bytes.copy(made, at)
  return made
}

/** Makes the folders below `root` what the image says. Files belong to the owner of the folder at the top. */
export function restore({ files }: Image, root: string, folders: readonly string[]) {
  for (const folder of folders) {
    const { uid, gid } = statSync(join(root, folder))
    for (const name of readdirSync(join(root, folder))) rmSync(join(root, folder, name), { recursive: true })
    const first = new Map<Inode, string>()
    for (const path of [...files.keys()].filter((each) => each.startsWith(`${folder}/`)).sort()) {
      const [file, at] = [files.get(path)!, join(root, path)]
      if (file === 'directory') mkdirSync(at)
      else if (first.has(file.inode)) linkSync(first.get(file.inode)!, at)
      else {
        writeFileSync(at, file.data)
        chmodSync(at, file.mode)
        first.set(file.inode, at)
      }
      chownSync(at, uid, gid)
    }
  }
}
