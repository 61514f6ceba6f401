// Scripts that are served, not run here: imported as files, so the import is a path.
declare module 'htmx.org/dist/htmx.min.js' {
  const path: string
  export default path
}
declare module '*/@simplewebauthn/browser/dist/bundle/index.umd.min.js' {
  const path: string
  export default path
}
declare module '@alpinejs/csp/dist/cdn.min.js' {
  const path: string
  export default path
}
