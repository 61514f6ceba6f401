// Macros (see public/assets.ts): they read licences when the program is compiled, because the executable has neither
// node_modules nor our files.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import manifest from '../../../package.json'

/** `text`: the package's own licence file; `''` where it has none and only names its licence. */
export type Carried = { name: string; version: string; licence: string; text: string }

type Manifest = {
  version: string
  license?: string
  dependencies?: object
  peerDependencies?: object
  peerDependenciesMeta?: object
}

const root = new URL('../../../', import.meta.url).pathname
const modules = `${root}node_modules/`
/** Peers that hold types for the compiler, and no code that the program could carry. */
const TYPES_ONLY = /^(@types\/.*|typescript|bun-types|undici-types|openapi-types)$/
const LICENCE_FILE = /^(licen[cs]e|copying)(\.\w+)?$/i

/** The packages that the program is built with, with what they need themselves, by name. */
export function licencesOfPackages(): Carried[] {
  const found = new Map<string, Carried>()
  const visit = (name: string) => {
    const directory = `${modules}${name}`
    if (found.has(name) || TYPES_ONLY.test(name) || !existsSync(`${directory}/package.json`)) return
    const its = JSON.parse(readFileSync(`${directory}/package.json`, 'utf8')) as Manifest
    const file = readdirSync(directory).find((one) => LICENCE_FILE.test(one))
    const text = file === undefined ? '' : readFileSync(`${directory}/${file}`, 'utf8').trim()
    found.set(name, { name, version: its.version, licence: its.license ?? nameIn(text), text })
    for (const needed of [its.dependencies, its.peerDependencies, its.peerDependenciesMeta])
      for (const one of Object.keys(needed ?? {})) visit(one)
  }
  for (const name of Object.keys(manifest.dependencies)) visit(name)
  return [...found.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/** The text of a licence that is a file of ours. */
export const licenceFile = (path: string): string => readFileSync(root + path, 'utf8').trim()

/** The words of the MIT licence; other packages name theirs. */
const nameIn = (text: string) =>
  text.includes('Permission is hereby granted, free of charge') ? 'MIT' : 'see its text'
