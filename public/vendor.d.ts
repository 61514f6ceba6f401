// Files that are served, not run here: imported as files, so the import is a path.
declare module '*.min.js' {
  const path: string
  export default path
}
declare module '*.woff2' {
  const path: string
  export default path
}
declare module '*.png' {
  const path: string
  export default path
}
declare module '*.css' {
  const path: string
  export default path
}
declare module '@novnc/novnc'
