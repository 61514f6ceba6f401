import type { AssetName } from '../../../public/assets.ts'

/** Pictures of docs/ by their file names there. */
export const pictures: Readonly<Record<string, AssetName>> = {
  'panel.png': 'docs-panel.png',
  'imports.png': 'docs-imports.png',
  'imports-certificate.png': 'docs-imports-certificate.png',
  'imports-finish.png': 'docs-imports-finish.png',
  'imports-migrate.png': 'docs-imports-migrate.png',
  'imports-owners.png': 'docs-imports-owners.png',
  'imports-roll-back.png': 'docs-imports-roll-back.png',
  'imports-verify.png': 'docs-imports-verify.png',
}
