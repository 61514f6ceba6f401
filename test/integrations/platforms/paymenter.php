<?php
// A stand-in for Paymenter as its helper of extensions behaves: a new extension for each call, settings and properties as
// texts. test/integrations/real-platforms.test.ts holds it against Paymenter itself.

namespace App\Classes\Extension {
    class Extension
    {
        public function __construct(public $config = [])
        {
        }
        public function config($key)
        {
            return $this->config[$key] ?? null;
        }
        public function boot()
        {
        }
    }
    class Server extends Extension
    {
    }
}

namespace App\Models {
    final class Properties
    {
        private array $keys = [];
        public function __construct(private Service $service)
        {
        }
        public function updateOrCreate(array $which, array $values): void
        {
            \hold(array_keys($which) === ['key'] && array_keys($values) === ['name', 'value'], 'a property has key, name and value');
            \hold(is_string($values['value']), 'the value of a property is a text');
            $this->service->kept[$which['key']] = $values['value'];
        }
        public function whereIn(string $column, array $keys): self
        {
            \hold($column === 'key', 'a property is found by its key');
            $this->keys = $keys;
            return $this;
        }
        public function delete(): void
        {
            $this->service->kept = array_diff_key($this->service->kept, array_flip($this->keys));
        }
    }
    final class Service
    {
        public object $user;
        public function __construct(public int $id, public array $kept, array $user)
        {
            $this->user = (object) $user;
        }
        public function properties(): Properties
        {
            return new Properties($this);
        }
    }
    final class Setting
    {
        public static function firstOrCreate(array $which, array $values): object
        {
            \hold(
                $which === ['key' => 'installation', 'settingable_type' => 'berth', 'settingable_id' => 0],
                'a setting of its own has a type and an id: those without are the settings of Paymenter',
            );
            return (object) ['value' => 'k3v9x2ab@billing.example'];
        }
    }
}

namespace {
    require __DIR__ . '/hold.php';
    function config(string $key): ?string
    {
        return $key === 'app.url' ? 'https://billing.example' : null;
    }
    require getenv('MODULE') . '/Berth/Berth.php';
    hurry();

    ['action' => $action, 'config' => $config, 'settings' => $settings, 'properties' => $properties] = $given =
        json_decode(stream_get_contents(STDIN), true);
    $extension = new \Paymenter\Extensions\Servers\Berth\Berth($config);
    $service = new \App\Models\Service($given['service'] ?? 17, $properties, $given['user'] ?? ['id' => 4711, 'name' => 'Cal Customer', 'email' => 'cal@example.com']);
    $isField = fn (array $field) => isset($field['name'], $field['type'], $field['label'])
        && in_array($field['type'], ['text', 'password', 'number', 'select', 'checkbox', 'tags'], true)
        && ($field['type'] !== 'select' || is_array($field['options']));
    foreach ($extension->getConfig() as $field) {
        hold($isField($field), 'a setting has a name, a label and a known type');
    }
    try {
        $answer = match ($action) {
            'test' => $extension->testConfig(),
            'options' => $extension->getProductConfig(),
            'create' => $extension->createServer($service, $settings, $properties),
            'suspend' => $extension->suspendServer($service, $settings, $properties),
            'unsuspend' => $extension->unsuspendServer($service, $settings, $properties),
            'upgrade' => $extension->upgradeServer($service, $settings, $properties),
            'terminate' => $extension->terminateServer($service, $settings, $properties),
            'actions' => $extension->getActions($service, $settings, $properties),
            'link' => $extension->{array_column($extension->getActions($service, $settings, $properties), 'function')[0]}($service, $settings, $properties),
        };
        if ($action === 'options') {
            foreach ($answer as $field) {
                hold($isField($field), 'an option of a product is a field');
            }
        }
        hold($action !== 'test' || $answer === true || is_string($answer), 'the test of the settings answers true or words');
        hold(!in_array($action, ['suspend', 'unsuspend', 'upgrade', 'terminate'], true) || $answer === true, 'what succeeds answers true');
        echo json_encode(['error' => null, 'answer' => $answer, 'properties' => (object) $service->kept]);
    } catch (\Exception $error) {
        echo json_encode(['error' => $error->getMessage(), 'answer' => null, 'properties' => (object) $service->kept]);
    }
}
