// The script of every page. Each module listens for what it is about; the order is that in which they see an event.
// @ts-check

import './page/redraw.js'
import './calls/calls.js'
import './calls/confirm.js'
import './calls/dialogs.js'
import './page/copy.js'
import './forms/fields.js'
import './forms/choices.js'
import './forms/filters.js'
import './page/menu.js'
import './page/palette.js'
import './page/times.js'
import './page/secret.js'
import './page/job-log.js'
