use super::*;

const NOTHING: &str = "-; saves ?; -; -; resumes ?; durable ? Unknown; -";

#[test]
fn false_friends_stay_out() {
    check(&[
        (exec("sleep infinity"), NOTHING),
        (Pod { template: Template::default() }, NOTHING),
        (exec("python t.py --gradient_checkpointing --gradient-checkpointing-kwargs {}"), NOTHING),
        (exec("python t.py fsdp_activation_checkpointing=true activation_checkpoint.mode=selective"), NOTHING),
        (exec("python t.py --recompute-granularity full --recompute-num-layers 1"), NOTHING),
        (exec("python t.py --pretrained-checkpoint /m --init_checkpoint /m load_parameters_path=gs://b/m"), NOTHING),
        (exec("python predict.py --ckpt_path /m/last.ckpt"), NOTHING),
        (exec("python -m vllm.entrypoints.openai.api_server --checkpoint-dir /m"), NOTHING),
        (exec("--model m --output_dir /x --checkpoint_dir /c").image("vllm/vllm-openai:v1"), NOTHING),
        (exec("python generate.py --checkpoint_dir /m"), NOTHING),
        (exec("python main.py predict --ckpt_path=/m/last.ckpt --trainer.devices=1"), NOTHING),
        (
            exec(
                "python3 -m MaxText.decode MaxText/configs/base.yml load_parameters_path=gs://b \
                 base_output_directory=gs://o",
            ),
            NOTHING,
        ),
        (exec("python tune.py --trials 5"), NOTHING),
        (exec("python fit.py --config a.yaml"), NOTHING),
        (exec("python /app/maxtext/tools/prepare.py"), NOTHING),
        (exec("python /home/ray/predict.py --storage-path s3://b/x --output_dir /o"), NOTHING),
        (exec("python torchtitan/scripts/download_tokenizer.py --repo_id x"), NOTHING),
        (
            exec("/usr/bin/run --size=7b").image("gcr.io/x/jetstream-server:v1").claim("/models", "checkpoint-claim"),
            NOTHING,
        ),
        (
            exec("./run").mount(
                "/var/log/checkpointing",
                "checkpoint-logs",
                VolumeSource::HostPath("/var/log/checkpointing"),
            ),
            NOTHING,
        ),
        (exec("kubelet --checkpoint-manager-dir /x"), NOTHING),
        (exec("python t.py --model_checkpoint /m --teacher.checkpoint_dir /t"), NOTHING),
        (exec("mkdir -p /checkpoints"), NOTHING),
        (bash("# --checkpoint_dir /x\necho '--checkpoint_dir /x' > /dev/null"), NOTHING),
        (exec("sleep 1").mount("/checkpoint-config", "cfg", VolumeSource::ConfigMapOrSecret), NOTHING),
        (exec("sleep 1").annotation("gke-gcsfuse/volumes", "true"), NOTHING),
    ]);
}

#[test]
fn names_that_many_scripts_share() {
    check(&[
        (
            exec("python t.py --checkpoint-dir /c --save-interval 500 --resume auto").claim("/c", "c"),
            "-; saves yes; /c; 500 (--save-interval); resumes yes; durable yes Claim c; -",
        ),
        (exec("python t.py --output_dir /c").claim("/c", "c"), "-; saves ?; /c; -; resumes ?; durable yes Claim c; -"),
        (
            exec(
                "python t.py --output_dir /c --checkpointing_steps 500 --num_train_epochs 1 \
             --resume_from_checkpoint latest",
            ),
            "-; saves yes; /c; 500 steps; resumes yes; durable no ContainerDisk; -",
        ),
        (
            exec(
                "python -m verl.trainer.main_ppo trainer.default_local_dir=/c trainer.save_freq=20 \
             trainer.resume_mode=auto",
            )
            .claim("/c", "c"),
            "-; saves yes; /c; 20 (trainer.save_freq); resumes yes; durable yes Claim c; -",
        ),
        (
            exec("./train.sh").env("CHECKPOINT_DIR", "/c").env("SAVE_INTERVAL", "100").claim("/c", "c"),
            "-; saves yes; /c; 100 (SAVE_INTERVAL); resumes ?; durable yes Claim c; -",
        ),
        (exec("./train.sh").env_from("CKPT_DIR"), "-; saves yes; $(CKPT_DIR); -; resumes ?; durable ? Unknown; -"),
        (
            exec("./train.sh").env("OUTPUT_DIR", "gs://b/o"),
            "-; saves ?; gs://b/o; -; resumes ?; durable yes \
         ObjectStore; -",
        ),
        (
            exec("python t.py --save_interval 5"),
            "-; saves ?; -; 5 (--save_interval); resumes ?; durable ? \
         Unknown; -",
        ),
        (
            exec("python t.py --ckpt_dir /c --resume false"),
            "-; saves yes; /c; -; resumes no; durable no ContainerDisk; -",
        ),
        (exec("python t.py --storage_path s3://b/x"), "-; saves ?; s3://b/x; -; resumes ?; durable yes ObjectStore; -"),
        // A mount alone does not say that anything is saved.
        (
            exec("./run").claim("/workspace/checkpoints", "c"),
            "-; saves ?; /workspace/checkpoints; -; resumes ?; \
         durable yes Claim c; -",
        ),
        (
            exec("./run").claim("/data", "my-ckpt-claim"),
            "-; saves ?; /data; -; resumes ?; durable yes Claim \
         my-ckpt-claim; -",
        ),
        (
            exec("./run").mount(
                "/local",
                "checkpoint",
                VolumeSource::Csi { driver: "multitier-checkpoint.csi.storage.gke.io", bucket: None },
            ),
            "-; saves yes; /local; -; resumes ?; durable ? NodeBound; -",
        ),
        (
            exec("./agent").annotation("podsnapshot.gke.io/ps-name", "snap-1"),
            "-; saves ?; -; -; resumes yes; durable yes ObjectStore; -",
        ),
    ]);
}

#[test]
fn the_container_that_tells_most_is_it() {
    let mut pod = exec("sleep 1").env("CHECKPOINT_DIR", "/side");
    let second = exec("torchrun pretrain_gpt.py --save /c --load /c --train-iters 5").with(|c| c.name = "main");
    pod.template.containers.extend(second.template.containers);
    let found = pod.detect();
    assert_eq!(found.framework, Some("Megatron-LM"));
    assert_eq!(found.signs, [sign("main", "args[1]", "--save /c"), sign("main", "args[3]", "--load /c")]);
}

#[test]
fn a_program_that_is_only_named_is_not_run() {
    const OWN: &str = "-; saves yes; /ckpt; -; resumes yes; durable yes Claim c; -";
    let own = "python t.py --checkpoint_dir /ckpt --resume";
    for before in [
        "test -f MaxText/train.py && cd src && ",
        "[ -f MaxText/train.py ] && ",
        "[[ -e MaxText/train.py ]] || exit 1; ",
        "ls MaxText/train.py; ",
        "cp -r /src/torchtitan/train.py /app; ",
        "/bin/cat MaxText/train.py | head; ",
        "echo python pretrain_gpt.py --save /x; ",
        "printf '%s' 'pretrain_gpt.py --save /x'; ",
        "grep -rn pretrain_gpt.py . ; ",
        "git clone https://github.com/x/deepspeed; ",
        "pip install deepspeed lightning; ",
        "python3 -m pip install deepspeed; ",
        "uv pip install lightning; ",
        "gsutil cp gs://b/pretrain_gpt.py . && ",
        "which deepspeed; ",
        "chmod +x pretrain_gpt.py; ",
    ] {
        let script = format!("{before}{own}");
        let found = bash(&script).dir("/").claim("/ckpt", "c").detect();
        assert_eq!(told(&found), OWN, "{script}");
    }
    check(&[
        (exec("cp /src/pretrain_gpt.py /work --save /x"), NOTHING),
        (bash("echo 'python pretrain_gpt.py --save /c' > run.sh"), NOTHING),
        (exec("ls --checkpoint_dir /x"), NOTHING),
        (
            exec("./test --checkpoint_dir /ckpt").claim("/ckpt", "c"),
            "-; saves yes; /ckpt; -; resumes ?; durable yes Claim c; -",
        ),
        (
            exec("conda run -n env python t.py --checkpoint_dir /ckpt").claim("/ckpt", "c"),
            "-; saves yes; /ckpt; -; resumes ?; durable yes Claim c; -",
        ),
        (exec("conda install lightning"), NOTHING),
        // What stands behind a script is its own, unless it is a script, too.
        (exec("python count.py data/maxtext/train.txt"), NOTHING),
        (exec("python -m count data/torchtitan/train.txt"), NOTHING),
        (exec("python count.py --of configs/maxtext/train.py"), NOTHING),
        (exec("python count.py lightning"), NOTHING),
        (
            exec("python launch.py pretrain_gpt.py --save /c"),
            "Megatron-LM; saves yes; /c; -; resumes no; durable no ContainerDisk; -",
        ),
        (
            exec("python -m torch.distributed.run --standalone pretrain_gpt.py --save /c"),
            "Megatron-LM; saves yes; /c; -; resumes no; durable no ContainerDisk; -",
        ),
        (
            exec("python launch.py -m torchtitan.train --checkpoint.enable"),
            "torchtitan; saves yes; ./outputs/checkpoint; 500 steps (the default); resumes yes; durable no \
             ContainerDisk; -",
        ),
    ]);
}

#[test]
fn a_model_that_is_read_is_not_the_place() {
    check(&[
        (
            exec("litgpt finetune lora --checkpoint_dir /models/m --out_dir /ckpt --train.save_interval 50")
                .claim("/ckpt", "c"),
            "LitGPT; saves yes; /ckpt; 50 steps; resumes no; durable yes Claim c; -",
        ),
        (
            exec("litgpt finetune_full /models/m --out_dir=/ckpt --resume=auto").claim("/ckpt", "c"),
            "LitGPT; saves yes; /ckpt; 1000 steps (the default); resumes yes; durable yes Claim c; -",
        ),
        (exec("litgpt generate base --checkpoint_dir /models/m"), NOTHING),
        (exec("litgpt pretrain pythia --config p.yaml"), "LitGPT; saves ?; -; -; resumes ?; durable ? Unknown; -"),
        (
            exec("python tune.py --checkpoint_dir /models/m --output_dir /ckpt").claim("/ckpt", "c"),
            "-; saves ?; /ckpt; -; resumes ?; durable yes Claim c; -",
        ),
        (
            exec("python tune.py --checkpoint_dir /models/m --output_dir /ckpt --save_every 5").claim("/ckpt", "c"),
            "-; saves yes; /ckpt; 5 (--save_every); resumes ?; durable yes Claim c; -",
        ),
        (
            exec("python tune.py --checkpoint_save_dir /ckpt --output_dir /out").claim("/ckpt", "c"),
            "-; saves yes; /ckpt; -; resumes ?; durable yes Claim c; -",
        ),
    ]);
}
