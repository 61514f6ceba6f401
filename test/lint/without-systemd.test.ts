// Documents and pages that name a command of systemd tell what to do on a machine without it, near by.
import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'

/** Lines above and below that are near. */
const NEAR = 3
const counterparts = [
  [/\bsystemctl /, /berth\/services (start|stop|restart|status)\b|without systemd/i],
  [/\bjournalctl /, /\/var\/log\/berth\b|without systemd/i],
] as const

/** Numbers of the lines that lack their counterpart. Comments of code are for programmers. */
function lacking(text: string, isCode: boolean): number[] {
  const lines = text.split('\n')
  return lines.flatMap((line, i) => {
    if (isCode && /^\s*(\/?\*|\/\/)/.test(line)) return []
    const near = lines.slice(Math.max(0, i - NEAR), i + NEAR + 1).join(' ')
    return counterparts.some(([names, counterpart]) => names.test(line) && !counterpart.test(near)) ? [i + 1] : []
  })
}

const documents = ['README.md', ...new Bun.Glob('{docs,views,test,guest}/**/*.md').scanSync('.')].toSorted()
const code = [...new Bun.Glob('{src,agent,backup-server,host,views}/**/*.{ts,tsx}').scanSync('.')].toSorted()

test.each([...documents, ...code])('%s', (path) => {
  expect(lacking(readFileSync(path, 'utf8'), !path.endsWith('.md'))).toEqual([])
})

describe('the rule', () => {
  const found = (text: string, isCode = false) => lacking(text, isCode)
  test('finds a line without its counterpart', () => {
    expect(found('Run this:\n\nsudo systemctl stop berth\n')).toEqual([3])
    expect(found('`journalctl -u berth` shows it')).toEqual([1])
  })
  test('is content with the counterpart near by, and not far away', () => {
    const other = 'without systemd: /usr/local/lib/berth/services stop berth'
    expect(found(`systemctl stop berth\n\n\n${other}`)).toEqual([])
    expect(found(`systemctl stop berth\n\n\n\n${other}`)).toEqual([1])
    expect(found('journalctl -u berth, or /var/log/berth/berth.log')).toEqual([])
  })
  test('leaves comments of code alone', () => {
    expect(found('/** journalctl -p warning */', true)).toEqual([])
    expect(found("say('journalctl -p warning')", true)).toEqual([1])
  })
})
