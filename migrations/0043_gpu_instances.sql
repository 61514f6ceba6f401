-- GPU instances: what only they have, under the id of their workload.
CREATE TABLE gpu_instances (
  id TEXT PRIMARY KEY REFERENCES workloads (id),
  offer_id TEXT NOT NULL REFERENCES gpu_offers (id),
  image_id TEXT NOT NULL REFERENCES gpu_images (id),
  -- The billing system's own identifier of it.
  billing_service_id TEXT,
  -- JSON, encrypted as a whole: people put keys of other services into it. NULL: none.
  environment TEXT,
  -- JSON; NULL: the image's own.
  command TEXT,
  -- Encrypted; NULL: its image has no Jupyter.
  jupyter_token TEXT,
  ssh_keys TEXT NOT NULL,
  -- What the events said last; NULL before it was set up.
  spell TEXT CHECK (spell IN ('running', 'stopped')),
  -- When that began, in ms.
  spell_at INTEGER,
  -- How it ended last.
  ended_at INTEGER,
  end_reason TEXT CHECK (end_reason IN ('requested', 'crashed')),
  exit_code INTEGER,
  oom_killed INTEGER,
  end_detail TEXT,
  CHECK ((ended_at IS NULL) = (end_reason IS NULL))
) STRICT;
CREATE INDEX gpu_instances_offer ON gpu_instances (offer_id);
CREATE INDEX gpu_instances_image ON gpu_instances (image_id);
CREATE INDEX gpu_instances_billing_service ON gpu_instances (billing_service_id) WHERE billing_service_id IS NOT NULL;
