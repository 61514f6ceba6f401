import type { Page } from '../src/kernel/web/page.ts'
export const pages: readonly Page[] = []
