// The addresses of pages, as links name them: `<Link to="/admin/servers/{id}" params={{ id }}>`. A link to a page that
// is not there does not compile.

/** The addresses of a page that every kind of account has: `''` for owners of servers, `/reseller`, `/admin`. */
const inEveryArea = <const Path extends string>(path: Path) => [path, `/reseller${path}`, `/admin${path}`] as const

/** Every page there is: test/every/links.test.ts holds the list against the pages of the features. */
export const addresses = [
  '/',
  '/login',
  '/forgot',
  '/search',
  '/admin',
  '/reseller',
  ...inEveryArea('/servers'),
  ...inEveryArea('/servers/{id}'),
  ...inEveryArea('/servers/{id}/activity'),
  ...inEveryArea('/servers/{id}/settings'),
  ...inEveryArea('/jobs'),
  ...inEveryArea('/jobs/{jobId}'),
  ...inEveryArea('/usage'),
  ...inEveryArea('/usage/intervals'),
  '/admin/reports',
  '/reseller/reports',
  '/admin/servers/new',
  '/reseller/servers/new',
  '/admin/customers',
  '/admin/customers/{id}',
  '/reseller/customers',
  '/reseller/customers/{id}',
  '/admin/resellers',
  '/admin/resellers/{id}',
  '/admin/staff',
  '/admin/roles',
  '/admin/roles/{id}',
  '/admin/nodes',
  '/admin/nodes/enroll',
  '/admin/nodes/enroll/{id}',
  '/admin/nodes/{id}',
  '/admin/node-groups',
  '/admin/ip-pools',
  '/admin/ip-pools/{id}',
  '/admin/images',
  '/admin/packages',
  '/admin/audit',
  '/admin/audit/verify',
  '/team',
  '/account',
  '/account/security',
  '/account/ssh-keys',
  '/account/activity',
  '/account/api',
  '/account/confirm',
  '/admin/announcements',
  '/admin/api/reference',
  '/admin/controller',
  '/admin/settings',
  '/api-reference',
  '/confirm-email/{token}',
  '/join',
  '/login/2fa',
  '/login/oidc',
  '/reseller/branding',
  '/reseller/packages',
  '/reset/{token}',
  '/setup',
  '/setup/second-factor',
  '/sign-in/{token}',
  '/welcome/{token}',
] as const
export type Address = (typeof addresses)[number]

/** The parameters in an address, by name. */
export type ParamsOf<A extends string> = A extends `${string}{${infer Name}}${infer Rest}`
  ? Readonly<Record<Name, string>> & ParamsOf<Rest>
  : unknown
