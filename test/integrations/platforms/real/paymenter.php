<?php
// Runs one action of Paymenter's own helper of extensions, jobs and page of a service, with the extension for Berth among
// its own. Ours in place of packages: records, queue, events, the parts of a page.

namespace Illuminate\Contracts\Queue {
    interface ShouldQueue
    {
    }
}
namespace Illuminate\Foundation\Bus {
    trait Dispatchable
    {
    }
}
namespace Illuminate\Queue {
    trait InteractsWithQueue
    {
    }
    trait SerializesModels
    {
    }
}
namespace Illuminate\Bus {
    trait Queueable
    {
    }
}
namespace Illuminate\Broadcasting {
    trait InteractsWithSockets
    {
    }
}
namespace Illuminate\Foundation\Events {
    trait Dispatchable
    {
    }
}
namespace Illuminate\Support\Facades {
    final class Event
    {
        public static array $listeners = [];
        public static function listen(string $event, callable $listener): void
        {
            self::$listeners[$event][] = $listener;
        }
        public static function dispatch(object $event): void
        {
            foreach (self::$listeners[$event::class] ?? [] as $listener) {
                $listener($event);
            }
        }
    }
    final class Auth
    {
    }
}
namespace Illuminate\Database\Eloquent {
    class Model
    {
        public $auditEvent;
        public $isCustomEvent;
        public $auditCustomOld;
        public $auditCustomNew;
    }
    class Collection extends \ArrayObject
    {
    }
}
namespace OwenIt\Auditing\Events {
    final class AuditCustom
    {
        public function __construct(public object $model)
        {
        }
    }
}
namespace Livewire {
    class Component
    {
        public ?string $target = null;
        public function redirect(string $target): void
        {
            $this->target = $target;
        }
    }
}
namespace App\Livewire {
    class Component extends \Livewire\Component
    {
        public function notify(string $message, string $kind = ''): void
        {
            throw new \Exception($message);
        }
    }
}
namespace App\Helpers {
    final class NotificationHelper
    {
        public static array $sent = [];
        public static function __callStatic(string $name, array $given): void
        {
            self::$sent[] = ['mail' => $name, 'data' => $given[2] ?? []];
        }
    }
}
namespace App\Models {
    use Illuminate\Database\Eloquent\Collection;
    use Illuminate\Database\Eloquent\Model;

    /** The tables of this run, which the test gives and gets back. */
    final class Tables
    {
        public static array $rows = [];
    }
    /** A model as the table `properties` has it: all values are texts, and one for each model and key. */
    final class Properties
    {
        private array $keys = [];
        public function __construct(private string $service)
        {
        }
        public function updateOrCreate(array $which, array $values): void
        {
            \hold(is_string($values['value']) && is_string($values['name']), 'a property has texts');
            Tables::$rows['properties'][$this->service][$which['key']] = $values['value'];
        }
        public function whereIn(string $column, array $keys): self
        {
            $this->keys = $keys;
            return $this;
        }
        public function delete(): void
        {
            foreach ($this->keys as $key) {
                unset(Tables::$rows['properties'][$this->service][$key]);
            }
        }
    }
    function rows(array $values): Collection
    {
        $rows = [];
        foreach ($values as $key => $value) {
            $rows[] = (object) ['key' => $key, 'value' => $value];
        }
        return new Collection($rows);
    }
    final class Service extends Model
    {
        public const STATUS_ACTIVE = 'active';
        public string $status = 'active';
        public string $label = 'VPS';
        public User $user;
        public object $product;
        public array $configs = [];
        public function __construct(public int $id)
        {
            $row = Tables::$rows['services'][$id];
            $this->user = User::find($row['user']);
            $product = Tables::$rows['products'][$row['product']];
            $this->product = (object) ['server' => new Server(), 'settings' => rows($product)];
        }
        public function __get(string $name): mixed
        {
            return $name === 'properties' ? rows(Tables::$rows['properties'][$this->id] ?? []) : null;
        }
        public function properties(): Properties
        {
            return new Properties((string) $this->id);
        }
    }
    final class Server extends Model
    {
        public string $type = 'server';
        public string $extension = 'Berth';
        public Collection $settings;
        public function __construct()
        {
            $this->settings = rows(Tables::$rows['server']);
        }
        public static function where(string $column, string $value): self
        {
            return new self();
        }
        public function get(): array
        {
            return [$this];
        }
    }
    final class Gateway
    {
    }
    final class Extension
    {
    }
    final class User extends Model
    {
        public function __construct(public int $id, public string $name, public string $email)
        {
        }
        public static function find(int $id): ?self
        {
            $row = Tables::$rows['users'][$id] ?? null;
            return $row ? new self($id, $row['name'], $row['email']) : null;
        }
        public function wasChanged(array $columns): bool
        {
            return in_array('email', $columns, true);
        }
    }
    final class Setting
    {
        public static function firstOrCreate(array $which, array $values): object
        {
            $key = implode('/', [$which['settingable_type'], $which['settingable_id'], $which['key']]);
            Tables::$rows['settings'][$key] ??= $values['value'];
            return (object) ['value' => Tables::$rows['settings'][$key]];
        }
    }
}

namespace {
    require __DIR__ . '/load.php';

    $source = getenv('BERTH_PAYMENTER');
    $base = getenv('LIBRARY');
    load_platform(['App\\' => "$source/app", 'Paymenter\\Extensions\\' => "$base/extensions"]);
    final class Str
    {
        public static function doesntEndWith(string $text, string $end): bool
        {
            return !str_ends_with($text, $end);
        }
    }
    function base_path(string $path): string
    {
        return getenv('LIBRARY') . "/$path";
    }
    function config(string $key): ?string
    {
        return $key === 'app.url' ? (getenv('APP_URL') ?: 'https://billing.example') : null;
    }
    $queued = [];
    function dispatch(callable $job): void
    {
        $GLOBALS['queued'][] = $job;
    }
    function report(Throwable $error): void
    {
        throw $error;
    }

    use App\Helpers\ExtensionHelper;
    use App\Helpers\NotificationHelper;
    use App\Jobs\Server\CreateJob;
    use App\Jobs\Server\SuspendJob;
    use App\Jobs\Server\TerminateJob;
    use App\Jobs\Server\UnsuspendJob;
    use App\Jobs\Server\UpgradeJob;
    use App\Models\Server;
    use App\Models\Service;
    use App\Models\Tables;
    use App\Models\User;
    use Illuminate\Support\Facades\Event;

    ['action' => $action, 'db' => Tables::$rows, 'service' => $id] = json_decode(stream_get_contents(STDIN), true);
    class_exists('Paymenter\\Extensions\\Servers\\Berth\\Berth');
    hurry();
    $service = new Service($id);
    // Every request and every run of the queue starts with it.
    ExtensionHelper::call(new Server(), 'boot', mayFail: true);
    $job = function (object $job): array {
        $job->handle();
        return NotificationHelper::$sent;
    };
    $page = function (Service $service): App\Livewire\Services\Show {
        $page = new App\Livewire\Services\Show();
        $page->service = $service;
        $page->mount();
        return $page;
    };
    $answer = $error = null;
    try {
        $answer = match ($action) {
            'extensions' => array_values(ExtensionHelper::getExtensions('server')),
            'config' => ExtensionHelper::getConfig('server', 'Berth', ['host' => 'x']),
            'test' => ExtensionHelper::testConfig(new Server(), (new Server())->settings),
            'options' => ExtensionHelper::getProductConfig(new Server()),
            'checkout' => ExtensionHelper::call(new Server(), 'getCheckoutConfig', [null, [], ExtensionHelper::settingsToArray($service->product->settings)], mayFail: true) ?? [],
            'create' => $job(new CreateJob($service)),
            'suspend' => $job(new SuspendJob($service)),
            'unsuspend' => $job(new UnsuspendJob($service)),
            'terminate' => $job(new TerminateJob($service)),
            'upgrade' => $job(new UpgradeJob($service)),
            'page' => ['fields' => $page($service)->fields, 'buttons' => $page($service)->buttons],
            'link' => (function () use ($page, $service) {
                $shown = $page($service);
                $shown->goto($shown->buttons[0]['function']);
                return $shown->target;
            })(),
            'changed' => (function () use ($service) {
                Event::dispatch(new App\Events\User\Updated(User::find($service->user->id)));
                foreach ($GLOBALS['queued'] as $queued) {
                    $queued();
                }
                return count($GLOBALS['queued']);
            })(),
        };
    } catch (Exception $refused) {
        $error = $refused->getMessage();
    }
    echo json_encode(['error' => $error, 'answer' => $answer, 'db' => Tables::$rows]);
}
