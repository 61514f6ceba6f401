// `berth licences`: the licence of Berth, and those of everything that the executable carries.
import { VERSION } from '../../kernel/version.ts'
import { licenceFile, licencesOfPackages } from '../licences/packages.ts' with { type: 'macro' }
import { runtime, WEBKIT_SOURCE } from '../licences/runtime.ts'

const packages = licencesOfPackages()
const apache = licenceFile('LICENSE')
const icons = licenceFile('public/icons-LICENSE.txt')
const libraries = [
  ...packages.map(({ name, version, licence }) => [`${name} ${version}`, licence] as const),
  ['Lucide icons', 'ISC'] as const,
]
const RULE = '-'.repeat(78)

/** Prints them. Answers the exit code. */
export function licences(args: readonly string[]): number {
  if (args.length) {
    console.log(
      'berth licences prints the licence of Berth, and name and licence of everything that the executable carries.',
    )
    return args.every((one) => one === '--help' || one === '-h') ? 0 : 2
  }
  console.log(noticeText())
  return 0
}

/** The whole text. */
export const noticeText =
  (): string => `Berth ${VERSION} is licensed under the Apache License 2.0, whose text is at the end.
This executable carries the following software of others.

RUNTIME

${table(runtime.map(([name, licence]) => [name, licence]))}

The program is compiled onto Bun ${Bun.version}, which is not changed. JavaScriptCore is under the GNU Lesser
General Public License, version 2: its source is at ${WEBKIT_SOURCE}. To run Berth on
another build of it, put your build of Bun ${Bun.version} at .tools/bun in Berth's source, delete dist/ and run
./install.sh --build-only.

LIBRARIES

${table(libraries)}

Their texts:

${packages.map(({ name, version, licence, text }) => section(`${name} ${version} (${licence})`, text)).join('\n\n')}

${section('Lucide icons (ISC)', icons)}

${section('Apache License 2.0', apache)}
`

const section = (title: string, text: string) =>
  `${RULE}\n${title}\n${RULE}\n\n${text || 'The package has no file with its licence: its manifest names it.'}`

function table(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length))
  return rows.map(([name, licence]) => `  ${name.padEnd(width)}  ${licence}`).join('\n')
}
