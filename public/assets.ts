// What browsers load, by the name that views know it by. Each import is the file's path, on disk or inside the executable.
import alpine from '@alpinejs/csp/dist/cdn.min.js' with { type: 'file' }
import htmx from 'htmx.org/dist/htmx.min.js' with { type: 'file' }
import icons from './icons.svg' with { type: 'file' }
import mark from './mark.svg' with { type: 'file' }
import style from './panel.css' with { type: 'file' }
import behaviour from './panel.js' with { type: 'file' }

export const files: Record<string, string> = {
  'panel.css': style,
  'panel.js': behaviour,
  'htmx.js': htmx,
  'alpine.js': alpine,
  'icons.svg': icons,
  'mark.svg': mark,
}
