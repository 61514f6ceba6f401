// Addresses that people type or programs send. The parser of URLs leaves out line breaks and tabs without a word, so
// that another address than the one that was given would be stored.

/** Control characters, also at the ends. */
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/

/** The URL in the text, which may have spaces around it; undefined when it is none, or has a control character. */
export const urlFrom = (text: string): URL | undefined =>
  CONTROL.test(text) ? undefined : (URL.parse(text.trim()) ?? undefined)
