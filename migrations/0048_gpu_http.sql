-- Names for HTTP ports of GPU instances, under a domain of their host.
ALTER TABLE gpu_hosts ADD COLUMN http_domain TEXT;
-- What its host serves: the scheme of links, and a fingerprint of all names. Null: nothing yet.
ALTER TABLE gpu_hosts ADD COLUMN http_scheme TEXT CHECK (http_scheme IN ('http', 'https'));
ALTER TABLE gpu_hosts ADD COLUMN http_applied TEXT;
-- Why its host could not be told last, and when that is tried again, in ms.
ALTER TABLE gpu_hosts ADD COLUMN http_problem TEXT;
ALTER TABLE gpu_hosts ADD COLUMN http_after INTEGER;
CREATE UNIQUE INDEX gpu_hosts_http_domain ON gpu_hosts (http_domain) WHERE http_domain IS NOT NULL;
-- JSON of ports of the container that the owner chose; null: those of the image.
ALTER TABLE gpu_instances ADD COLUMN http_ports TEXT;
