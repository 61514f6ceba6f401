// The files for browsers, under the names that views use. Each import is the file's path, on disk or in the executable.
import alpine from '@alpinejs/csp/dist/cdn.min.js' with { type: 'file' }
import font from '@fontsource-variable/inter/files/inter-latin-wght-normal.woff2' with { type: 'file' }
import htmx from 'htmx.org/dist/htmx.min.js' with { type: 'file' }
import type { AssetSource } from '../src/kernel/web/assets.ts'
import { bundle, styles } from './bundle.ts' with { type: 'macro' }
import icons from './icons.svg' with { type: 'file' }
import mark from './mark.svg' with { type: 'file' }
import chart from './sign-in.svg' with { type: 'file' }

export const files = {
  'panel.css': { text: styles('panel.css') },
  'inter.woff2': font,
  'panel.js': { text: bundle('panel/main.js') },
  /** Loaded where somebody uses a passkey or sets up a second factor. */
  'security.js': { text: bundle('security.js') },
  'htmx.js': htmx,
  'alpine.js': alpine,
  'icons.svg': icons,
  'mark.svg': mark,
  'sign-in.svg': chart,
} satisfies Record<string, AssetSource>

export type AssetName = keyof typeof files
