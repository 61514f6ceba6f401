// The software bill of materials of the program, in CycloneDX 1.6: what it carries, with versions and licences.
import { VERSION } from '../../kernel/version.ts'
import { licencesOfPackages } from '../licences/packages.ts' with { type: 'macro' }
import { runtime } from '../licences/runtime.ts'

const packages = licencesOfPackages()

/** The same text for the same program: without a serial number and without a time. */
export function billOfMaterials(): string {
  const licences = (words: string) => [{ license: { name: words } }]
  const bill = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      component: {
        type: 'application',
        'bom-ref': 'berth',
        name: 'berth',
        version: VERSION,
        licenses: [{ license: { id: 'Apache-2.0' } }],
      },
    },
    components: [
      ...packages.map(({ name, version, licence }) => ({
        type: 'library',
        'bom-ref': `${name}@${version}`,
        name,
        version,
        purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
        licenses: licences(licence),
      })),
      // The version of Bun decides those of the libraries that are linked into it.
      ...runtime.map(([name, licence]) => ({
        type: name === 'Bun' ? 'platform' : 'library',
        'bom-ref': `runtime:${name}`,
        name,
        ...(name === 'Bun' && { version: Bun.version }),
        licenses: licences(licence),
      })),
    ],
  }
  return `${JSON.stringify(bill, null, 2)}\n`
}
