// The addresses of pages, as links name them: `<Link to="/admin/servers/{id}" params={{ id }}>`. A page takes its
// `path` from here, so that a link to a page that is not there does not compile.

/** Where every kind of account has the page: `''` for owners of servers, `/reseller`, `/admin`. */
type InEveryArea<Path extends string> = Path | `/reseller${Path}` | `/admin${Path}`

export type Address =
  | '/'
  | '/login'
  | '/forgot'
  | '/search'
  | '/admin'
  | '/reseller'
  | InEveryArea<'/servers'>
  | InEveryArea<'/servers/{id}'>
  | InEveryArea<'/servers/{id}/activity'>
  | InEveryArea<'/servers/{id}/settings'>
  | InEveryArea<'/jobs'>
  | InEveryArea<'/jobs/{jobId}'>
  | '/admin/servers/new'
  | '/reseller/servers/new'
  | '/admin/customers'
  | '/admin/customers/{id}'
  | '/reseller/customers'
  | '/reseller/customers/{id}'
  | '/admin/resellers'
  | '/admin/resellers/{id}'
  | '/admin/staff'
  | '/admin/roles'
  | '/admin/nodes'
  | '/admin/nodes/enroll'
  | '/admin/nodes/enroll/{id}'
  | '/admin/nodes/{id}'
  | '/admin/node-groups'
  | '/admin/ip-pools'
  | '/admin/ip-pools/{id}'
  | '/admin/images'
  | '/admin/packages'
  | '/admin/audit'
  | '/admin/audit/verify'
  | '/team'
  | '/account'
  | '/account/security'
  | '/account/ssh-keys'

/** The parameters in an address, by name. */
export type ParamsOf<A extends string> = A extends `${string}{${infer Name}}${infer Rest}`
  ? Readonly<Record<Name, string>> & ParamsOf<Rest>
  : unknown
