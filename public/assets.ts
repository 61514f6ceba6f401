// The files for browsers, under the names that views use. Each import is the file's path, on disk or in the executable.
import alpine from '@alpinejs/csp/dist/cdn.min.js' with { type: 'file' }
import font from '@fontsource-variable/inter/files/inter-latin-wght-normal.woff2' with { type: 'file' }
import xtermCss from '@xterm/xterm/css/xterm.css' with { type: 'file' }
import htmx from 'htmx.org/dist/htmx.min.js' with { type: 'file' }
import uplot from 'uplot/dist/uPlot.iife.min.js' with { type: 'file' }
import docsImports from '../docs/imports.png' with { type: 'file' }
import docsImportsCertificate from '../docs/imports-certificate.png' with { type: 'file' }
import docsImportsFinish from '../docs/imports-finish.png' with { type: 'file' }
import docsImportsMigrate from '../docs/imports-migrate.png' with { type: 'file' }
import docsImportsOwners from '../docs/imports-owners.png' with { type: 'file' }
import docsImportsRollBack from '../docs/imports-roll-back.png' with { type: 'file' }
import docsImportsVerify from '../docs/imports-verify.png' with { type: 'file' }
import docsPanel from '../docs/panel.png' with { type: 'file' }
import type { AssetSource } from '../src/kernel/web/assets.ts'
import { bundle, styles } from './bundle.ts' with { type: 'macro' }
import icons from './icons.svg' with { type: 'file' }
import mark from './mark.svg' with { type: 'file' }
import chart from './sign-in.svg' with { type: 'file' }

export const files = {
  'panel.css': { text: styles('panel.css') },
  'inter.woff2': font,
  'panel.js': { text: bundle('panel/main.js') },
  /** Loaded with lists of servers that can be ticked. */
  'rows.mjs': { text: bundle('panel/page/rows.js') },
  /** Loaded where access by SSH keys can be chosen. */
  'ssh-keys.mjs': { text: bundle('panel/forms/ssh-keys.js') },
  /** Loaded with the log of a GPU instance. */
  'instance-log.mjs': { text: bundle('panel/page/instance-log.js') },
  /** Loaded in the reference. */
  'try.mjs': { text: bundle('panel/calls/try.js') },
  /** Loaded where somebody uses a passkey or sets up a second factor. */
  'security.js': { text: bundle('security.js') },
  /** Loaded when a list of a billing system was compared. */
  'chooser.js': { text: bundle('panel/forms/chooser.js') },
  'reconciliation.js': { text: bundle('reconciliation.js') },
  /** Loaded on pages with charts, in this order. */
  'metrics.css': { text: styles('metrics.css') },
  'uplot.js': uplot,
  'metrics.js': { text: bundle('metrics.js') },
  /** Loaded on the pages of moves. */
  'moves.css': { text: styles('moves.css') },
  /** Loaded where the file of a release can be sent. */
  'release-file.mjs': { text: bundle('panel/forms/release-file.js') },
  /** Loaded on the pages with long forms. */
  'forms.css': { text: styles('forms/forms.css') },
  /** Loaded on the pages of pools and their addresses. */
  'addresses.css': { text: styles('addresses.css') },
  /** Loaded on the pages of imports, and where their choices are made. */
  'imports.mjs': { text: bundle('imports/choices.js') },
  'imports.css': { text: styles('imports/imports.css') },
  /** Of the pages of documents, with their pictures. */
  'documents.css': { text: styles('documents/documents.css') },
  'docs-panel.png': docsPanel,
  'docs-imports.png': docsImports,
  'docs-imports-certificate.png': docsImportsCertificate,
  'docs-imports-finish.png': docsImportsFinish,
  'docs-imports-migrate.png': docsImportsMigrate,
  'docs-imports-owners.png': docsImportsOwners,
  'docs-imports-roll-back.png': docsImportsRollBack,
  'docs-imports-verify.png': docsImportsVerify,
  /** Of the page of a console; the last two are loaded for the screen and for the serial line. */
  'console.css': { text: styles('console/console.css') },
  'xterm.css': xtermCss,
  'console.mjs': { text: bundle('console/main.js') },
  'console-screen.mjs': { text: bundle('console/screen.js') },
  'console-serial.mjs': { text: bundle('console/serial.js') },
  'htmx.js': htmx,
  /** Loaded on the page of a job, for its log. */
  'alpine.js': alpine,
  'icons.svg': icons,
  'mark.svg': mark,
  'sign-in.svg': chart,
} satisfies Record<string, AssetSource>

export type AssetName = keyof typeof files
