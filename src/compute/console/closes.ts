import type { consoleFailures } from '../../../agent/protocol/console.ts'

type Close = { code: number; words: string }

/**
 * Why a viewer's console ends, with the code and the words of the WebSocket's close. From 4410 on the page connects
 * again by itself; below, only a person can change what it names.
 */
export const closes = {
  refused: { code: 4400, words: 'This viewer sent something that the server does not take.' },
  signed_out: { code: 4401, words: 'You were signed out, or the token was revoked.' },
  no_right: { code: 4403, words: 'You may not use this console any more.' },
  gone: { code: 4404, words: 'The server is gone, or it is not yours any more.' },
  too_many: { code: 4405, words: 'Too many consoles are open.' },
  no_serial_line: { code: 4406, words: 'The serial console works after the server was shut down and started again.' },
  too_much: { code: 4407, words: 'This viewer sent too much at once.' },
  idle: { code: 4408, words: 'Nothing was typed for 30 minutes.' },
  suspended: { code: 4409, words: 'The server or its account is suspended.' },
  not_running: { code: 4410, words: 'The server is off.' },
  unreachable: { code: 4411, words: 'The server cannot be reached now.' },
  failed: { code: 4412, words: 'The console broke off.' },
  moved: {
    code: 4413,
    words: 'The server moves to another node. Open its console again: it is shown from there.',
  },
} as const satisfies Record<string, Close> & Record<(typeof consoleFailures)[number], Close>
export type CloseReason = keyof typeof closes
