// `berth host deb`: the Debian package of this very program. It has the program, the units and the documents. Its
// scripts make the user, the data directory and the first settings, and start nothing: the address that browsers use is
// the operator's to say.
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import control from '../packaging/debian/control' with { type: 'text' }
import postinst from '../packaging/debian/postinst' with { type: 'text' }
import postrm from '../packaging/debian/postrm' with { type: 'text' }
import preinst from '../packaging/debian/preinst' with { type: 'text' }
import prerm from '../packaging/debian/prerm' with { type: 'text' }
import { VERSION } from '../src/kernel/version.ts'
import type { Machine } from './machine/machine.ts'
import { Failed } from './machine/report.ts'
import { systemdVersionOf } from './services/install-service.ts'
import { packaged, renderUnit } from './services/units.ts'

/** `source`: the checkout, into whose `dist/` the package goes. Answers its name and size. Throws `Failed`. */
export function makeDebianPackage(machine: Machine, source: string, program = process.execPath): string {
  const { exec } = machine
  if (!exec.has('dpkg-deb')) throw new Failed('dpkg-deb is missing.', 'A Debian package is made on Debian or Ubuntu.')
  const architecture = exec.must('dpkg', ['--print-architecture'])
  const file = `${source}/dist/berth_${VERSION}_${architecture}.deb`
  const root = mkdtempSync(join(tmpdir(), 'berth-deb-'))
  try {
    chmodSync(root, 0o755)
    const put = (path: string, mode: number, content: string | { copyOf: string }) => {
      mkdirSync(dirname(root + path), { recursive: true, mode: 0o755 })
      if (typeof content === 'string') writeFileSync(root + path, content)
      else copyFileSync(content.copyOf, root + path)
      chmodSync(root + path, mode)
    }
    put(packaged.program, 0o755, { copyOf: program })
    for (const name of readdirSync(`${source}/docs`).filter((each) => each.endsWith('.md')))
      put(`${packaged.docs}/${name}`, 0o644, { copyOf: `${source}/docs/${name}` })
    put(`${packaged.docs}/copyright`, 0o644, { copyOf: `${source}/dist/NOTICE` })
    const places = { ...packaged, systemdVersion: systemdVersionOf(machine) }
    for (const unit of ['berth', 'berth-agent'] as const)
      put(`/usr/lib/systemd/system/${unit}.service`, 0o644, renderUnit(unit, places))
    put('/DEBIAN/control', 0o644, controlFile(architecture, kilobytesIn(machine, `${root}/usr`)))
    for (const [name, script] of Object.entries({ preinst, postinst, prerm, postrm }))
      put(`/DEBIAN/${name}`, 0o755, script)
    exec.run('dpkg-deb', ['--root-owner-group', '-Zgzip', '-z6', '--build', root, `${file}.new`])
    renameSync(`${file}.new`, file)
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
  return `${file}, ${Math.floor(Bun.file(file).size / 1e6)} MB`
}

const controlFile = (architecture: string, size: number) =>
  control.replace('VERSION', VERSION).replace('ARCHITECTURE', architecture).replace('SIZE_KB', String(size))

const kilobytesIn = ({ exec }: Machine, directory: string) => Number.parseInt(exec.must('du', ['-sk', directory]), 10)
