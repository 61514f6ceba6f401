import { expect, test } from 'bun:test'
import { prefersHtml } from '../../../src/kernel/net/accept.ts'

const asks = (headers: Record<string, string>) => prefersHtml(new Request('http://localhost/', { headers }))

test('a browser that navigates, or names HTML first, gets pages; every other sender JSON', () => {
  for (const [accept, page] of [
    ['text/html', true],
    ['TEXT/HTML;Q=0.9, */*;q=0.8', true],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8', true],
    ['image/png, text/html', true],
    ['text/html, application/json', true],
    ['', false],
    ['*/*', false],
    ['application/json', false],
    ['application/json, text/html', false],
    ['application/json, text/html;q=0.9, */*;q=0.1', false],
    ['text/html;q=0.5, application/json', false],
    ['*/*, text/html', false],
    ['text/html;q=0, */*;q=0.1', false],
    ['text/html;q=x, */*', false],
    ['text/htmlx', false],
    [',;,=', false],
  ] as const)
    expect([accept, asks(accept ? { Accept: accept } : {})]).toEqual([accept, page])
  expect(asks({ Accept: '*/*', 'Sec-Fetch-Mode': 'navigate' })).toBe(true)
  expect(asks({ Accept: '*/*', 'Sec-Fetch-Mode': 'cors' })).toBe(false)
})
