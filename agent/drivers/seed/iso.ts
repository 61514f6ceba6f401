import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { makePassage } from '../../host/directories.ts'
import { run } from '../../host/exec.ts'
import { type AnySeed, filesOf, labelOf, type Seeds } from './seed.ts'

/** Seeds as ISO images, made by xorriso. */
export class IsoSeeds implements Seeds {
  /** Files in `root` have mode 0600; libvirt gives the hypervisor's user access to the one that it attaches. */
  constructor(private root: string) {
    makePassage(root)
  }

  async write(seed: AnySeed) {
    // The working directory has mode 0700 and is always deleted, because it holds passwords or their hashes, and
    // keys, as files.
    const work = mkdtempSync(join(this.root, '.making-'))
    const image = join(work, 'seed.iso')
    try {
      const files = join(work, 'files')
      mkdirSync(files)
      for (const [name, text] of Object.entries(filesOf(seed))) {
        mkdirSync(dirname(join(files, name)), { recursive: true })
        writeFileSync(join(files, name), text, { mode: 0o600 })
      }
      writeFileSync(image, '', { mode: 0o600 })
      const label = labelOf(seed)
      await run('xorriso', ['-no_rc', '-as', 'mkisofs', '-quiet', '-o', image, '-V', label, '-J', '-r', files])
      renameSync(image, this.file(seed.workload))
    } finally {
      rmSync(work, { recursive: true, force: true })
    }
  }

  async path(workload: string) {
    const path = this.file(workload)
    return existsSync(path) ? path : undefined
  }

  async remove(workload: string) {
    rmSync(this.file(workload), { force: true })
  }

  private file = (workload: string) => join(this.root, `${workload}.iso`)
}
