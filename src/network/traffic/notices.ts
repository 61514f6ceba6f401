import type { NoticeDeclaration } from '../../identity/notices/notify.ts'

const owners = ['reseller', 'customer'] as const
export const trafficNotices = {
  traffic_near: { when: 'a server has used 80 % of its traffic', kinds: owners, mail: 'optional' },
  traffic_used: { when: 'a server has used all of its traffic', kinds: owners, mail: 'always' },
} as const satisfies Record<string, NoticeDeclaration>
