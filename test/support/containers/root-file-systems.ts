// Images of three kinds, made from programs of this machine: nothing is downloaded.
import { chmodSync, copyFileSync, existsSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** `glibc`: like Debian. `busybox`: like Alpine, without any library. `static`: one program, no shell, no users. */
export const imageKinds = ['glibc', 'busybox', 'static'] as const
export type ImageKind = (typeof imageKinds)[number]

/** The command with which each image does nothing for a day. */
export const idleCommands: Record<ImageKind, string[]> = {
  glibc: ['/bin/sleep', '86400'],
  busybox: ['/bin/sleep', '86400'],
  static: ['/sleep', '86400'],
}

const programs = ['bash', 'sh', 'cat', 'ls', 'env', 'sleep', 'id', 'df', 'dd', 'head', 'sha256sum', 'mkdir', 'rm', 'tr']
const users = 'root:x:0:0:root:/root:SHELL\nworker:x:1000:1000::/home/worker:/bin/sh\n'

/** Writes the files of an image below `root`. */
export function makeRootFileSystem(kind: ImageKind, root: string) {
  const place = (path: string, from: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    copyFileSync(realpathSync(from), join(root, path))
    chmodSync(join(root, path), 0o755)
  }
  if (kind === 'static') return place('sleep', '/bin/busybox')
  for (const directory of ['etc', 'bin', 'tmp', 'root', 'home/worker', 'var'])
    mkdirSync(join(root, directory), { recursive: true })
  chmodSync(join(root, 'tmp'), 0o1777)
  writeFileSync(join(root, 'etc/group'), 'root:x:0:\nworker:x:1000:\n')
  if (kind === 'busybox') {
    place('bin/busybox', '/bin/busybox')
    for (const name of ['sh', ...programs.filter((program) => program !== 'bash')])
      if (!existsSync(join(root, 'bin', name))) symlinkSync('busybox', join(root, 'bin', name))
    writeFileSync(join(root, 'etc/passwd'), users.replace('SHELL', '/bin/sh'))
    return
  }
  writeFileSync(join(root, 'etc/passwd'), users.replace('SHELL', '/bin/bash'))
  writeFileSync(join(root, 'etc/shells'), '/bin/sh\n/bin/bash\n')
  // As Debian has it: a login shell forgets the PATH of the image.
  writeFileSync(join(root, 'etc/profile'), 'PATH=/usr/bin:/bin\n')
  for (const name of programs) {
    const path = Bun.which(name)!
    place(join('bin', name), path)
    const out = Bun.spawnSync(['ldd', path]).stdout.toString()
    for (const [, library] of out.matchAll(/(\/\S+) \(0x/g))
      if (!existsSync(join(root, library!))) place(library!, library!)
  }
}

/** The archive of those files. */
export function archiveOf(kind: ImageKind, directory: string): string {
  const root = join(directory, kind)
  makeRootFileSystem(kind, root)
  const path = join(directory, `${kind}.tar`)
  const { exitCode, stderr } = Bun.spawnSync(['tar', '--owner=0', '--group=0', '-cf', path, '-C', root, '.'])
  if (exitCode !== 0) throw new Error(`${basename(path)}: ${stderr}`)
  return path
}
